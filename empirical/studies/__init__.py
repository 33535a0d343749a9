"""Finished studies, each with all that only it needs: its engine, data, commands, figures and view of the report.

Only claims (`proofs_checks/papers/`, `proofs_checks/consequences/`) import a study. All others find it by its package
here (`lengthgen.infrastructure.discovery`), which may name

    COMMANDS    command -> the command after which it stands on the menu, its line of help, and its module
    FIGURES     modules with figures, as those of `paper_figs/figures/`
    VIEW        module whose function `view` returns the data of a view of the report page
    REPRODUCED  module whose function `reproduced` adds answers to `lengthgen reproduce`
"""
