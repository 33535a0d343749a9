(* What the proofs of identities share: every lemma of Identities.v is over the real numbers. *)

Require Export Reals Lra.
From Coquelicot Require Export Coquelicot.
Open Scope R_scope.

(* Goals that a denominator is not 0: a hypothesis says so, it is a number, or it is 0 only if one of those is. *)
Ltac nonzero :=
  repeat split; try assumption;
  try solve [apply Rgt_not_eq; lra | apply Rlt_not_eq; lra
    | apply Rgt_not_eq; repeat (apply Rplus_lt_0_compat || apply Rmult_lt_0_compat); (apply exp_pos || lra)];
  try match goal with
  | N : ?b <> 0 |- ?c <> 0 =>
      let E := fresh "E" in
      solve [intro E; apply N; first [lra | rewrite E; ring | rewrite <- E; first [ring | field; nonzero]
        | field_simplify_eq; [lra | nonzero]]]
  end.

Lemma square_of_sine : forall x, sin x * sin x = 1 - cos x * cos x.
Proof. intros. pose proof (sin2_cos2 x) as H. unfold Rsqr in H. lra. Qed.

Lemma exponentials_cancel : forall x, exp x * exp (- x) = 1.
Proof. intros. rewrite <- exp_plus, Rplus_opp_r. apply exp_0. Qed.

(* Functions of a sum of multiples of the units, with the functions of the units. *)
Ltac expand_sum :=
  repeat progress rewrite ?cos_plus, ?sin_plus, ?exp_plus, ?cos_neg, ?sin_neg, ?cos_0, ?sin_0, ?exp_0 in *.
