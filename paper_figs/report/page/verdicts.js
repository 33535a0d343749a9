// The verdicts view: rules and cells of each stored protocol.

const JUDGED = {refuted: 'bad', consistent: 'good'};
const share = ([successes, trials, low, high]) => (trials ? `${successes} of ${trials} [${number(low, 2)}, ${number(high, 2)}]` : '–');

const ruleTable = (rule, its) => {
  const {table: cells} = its;
  return el('div', {},
    table(`Rule: ${rule}`, [
      ['', ([name]) => name],
      ['observed: yes', ([, yes]) => String(yes), 'number'],
      ['observed: no', ([, , no]) => String(no), 'number'],
    ], [['predicted: yes', cells.yes_yes, cells.yes_no], ['predicted: no', cells.no_yes, cells.no_no]]),
    el('p', {class: 'note'}, `Agreement ${number(its.agreement)}, Fisher's exact test p = ${chance(its.fisher_p)}; `
      + `not observed ${cells.not_observed}, without a prediction ${cells.no_prediction}.`),
    its.misclassified.length ? opening([plural(its.misclassified.length, 'cell') + ' not as predicted'], () => [el('ul', {}, ...its.misclassified.map((name) => el('li', {}, name)))]) : null);
};

const startVerdicts = () => {
  const {trials, looks} = data('trials');
  const place = byId('verdict-list');
  if (!trials.length) place.append(el('p', {}, 'No protocol was judged. The overview lists the commands that judge one.'));
  for (const trial of trials) {
    place.append(
      el('h3', {id: `protocol-${trial.name}`}, trial.title === trial.name ? trial.name : `${trial.name}: ${trial.title}`),
      el('p', {class: 'note'}, `${trial.source ? `${trial.source}. ` : ''}Model ${trial.main.size}, checkpoint ${trial.main.checkpoint}, a scale is solved if its exact match is at least ${trial.main.threshold}; `
        + `level ${number(trial.alpha)} by e-values and e-BH over the cells, at which a cell needs at least ${plural(trial.unanimous_runs, 'fitting run')} that agree.`),
      el('div', {class: 'beside'}, ...Object.entries(trial.rules).map(([rule, its]) => ruleTable(rule, its))),
      table('Cells', [
        ['cell', (cell) => `${cell.task}, ${cell.format}, ${(looks[cell.encoding] || {label: cell.encoding}).label}${cell.size === trial.main.size ? '' : `, ${cell.size}`}`, 'name'],
        ['predicted', (cell) => yes(cell.predicted)],
        ['literal', (cell) => yes(cell.literal)],
        ['observed', (cell) => yes(cell.observed)],
        ['verdict', (cell) => el('span', {class: `mark ${JUDGED[cell.verdict] || 'open'}`}, cell.verdict)],
        ['fit', (cell) => share(cell.fit), 'number'],
        ['generalize, of the runs that fit', (cell) => share(cell.generalizes_given_fit), 'number'],
        ['breaks at: predicted, observed', (cell) => cell.breaks.map((at) => number(at)).join(', '), 'number'],
        ['e-value against, for', (cell) => `${number(cell.e_against)}, ${number(cell.e_for)}`, 'number'],
        ['reason and findings', (cell) => [cell.why, ...cell.findings, cell.before ? '' : 'not predicted before training'].filter(Boolean).join('. '), 'words'],
      ], trial.cells),
      el('p', {class: 'note'}, `In brackets: exact ${number(100 * trial.confidence)} % intervals.`));
  }
};
