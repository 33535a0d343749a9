(* What the proofs share that a statement is false, each at one point with rational coordinates. *)

Require Import Reals Lra.
From Interval Require Export Tactic.
Open Scope R_scope.

Lemma one_more : forall x y, x = y -> x = y + 1 -> False.
Proof. intros. lra. Qed.

(* A number that is not 0, or the square of a root. *)
Ltac away := first [lra | field | unfold tanh, sinh, cosh; first [apply Rgt_not_eq; interval | apply Rlt_not_eq;
  interval]].

(* An equation between different numbers. *)
Ltac apart equation :=
  let E := fresh in
  pose proof equation as E; unfold tanh, sinh, cosh in E;
  first [lra | revert E; first [apply Rgt_not_eq; interval | apply Rlt_not_eq; interval]].
