(* RoPE and HoPE: real sine, cosine and exponential, any real positions and frequencies. *)

Require Import Reals Lra Nsatz.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* Rotation R(x) and hyperbolic rotation B(x) of a vector (v1, v2); the first and the second coordinate. *)
Definition turn1 (x v1 v2 : R) := cos x * v1 - sin x * v2.
Definition turn2 (x v1 v2 : R) := sin x * v1 + cos x * v2.
Definition boost1 (x v1 v2 : R) := cosh x * v1 + sinh x * v2.
Definition boost2 (x v1 v2 : R) := sinh x * v1 + cosh x * v2.

(* Score of query (q1, q2) at position j and key (k1, k2) at position i in one plane. *)
Definition rope (w q1 q2 k1 k2 j i : R) :=
  turn1 (j * w) q1 q2 * turn1 (i * w) k1 k2 + turn2 (j * w) q1 q2 * turn2 (i * w) k1 k2.
Definition hope (w w' q1 q2 k1 k2 j i : R) :=
  (exp (- (j * w')) * boost1 (j * w) q1 q2) * (exp (i * w') * boost1 (- (i * w)) k1 k2)
  + (exp (- (j * w')) * boost2 (j * w) q1 q2) * (exp (i * w') * boost2 (- (i * w)) k1 k2).

(* RoPE's score is that of the key and the query turned by the distance (claim rope-1).
   False twin: "cos ((j - i) * w)" becomes "cos ((j + i) * w)". *)
Theorem rope_relative : forall w q1 q2 k1 k2 j i,
  rope w q1 q2 k1 k2 j i
  = (q1 * k1 + q2 * k2) * cos ((j - i) * w) + (q1 * k2 - q2 * k1) * sin ((j - i) * w).
Proof.
  intros. unfold rope, turn1, turn2.
  replace ((j - i) * w) with (j * w - i * w) by ring.
  rewrite cos_minus, sin_minus. ring.
Qed.

(* RoPE keeps norms (claim rope-2).
   False twin: "= v1 * v1 + v2 * v2" becomes "= v1 * v1 + 2 * v2 * v2". *)
Theorem rope_keeps_norms : forall x v1 v2,
  turn1 x v1 v2 * turn1 x v1 v2 + turn2 x v1 v2 * turn2 x v1 v2 = v1 * v1 + v2 * v2.
Proof.
  intros. unfold turn1, turn2. pose proof (sin2_cos2 x) as H. unfold Rsqr in H. nsatz.
Qed.

(* RoPE on any number of planes, each with its frequency: a common shift of both positions changes no score (claim rope-1).
   False twin: "(i + s) planes" becomes "i planes". *)
Fixpoint rope_score (w q1 q2 k1 k2 : nat -> R) (j i : R) (planes : nat) : R :=
  match planes with
  | O => 0
  | S p => rope_score w q1 q2 k1 k2 j i p + rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) j i
  end.
Theorem rope_shift : forall w q1 q2 k1 k2 j i s planes,
  rope_score w q1 q2 k1 k2 (j + s) (i + s) planes = rope_score w q1 q2 k1 k2 j i planes.
Proof.
  intros. induction planes as [|p IH]; [reflexivity|].
  simpl. rewrite IH, !rope_relative. replace (j + s - (i + s)) with (j - i) by ring. ring.
Qed.

(* HoPE's score is relative, with the damping of the distance (claim hope-1).
   False twin: "sinh ((j - i) * w)" becomes "- sinh ((j - i) * w)". *)
Theorem hope_relative : forall w w' q1 q2 k1 k2 j i,
  hope w w' q1 q2 k1 k2 j i
  = exp (- ((j - i) * w')) * ((q1 * k1 + q2 * k2) * cosh ((j - i) * w) + (q1 * k2 + q2 * k1) * sinh ((j - i) * w)).
Proof.
  intros. unfold hope, boost1, boost2, cosh, sinh.
  replace (- ((j - i) * w')) with (- (j * w') + i * w') by ring.
  replace (- ((j - i) * w)) with (- (j * w) + i * w) by ring.
  replace ((j - i) * w) with (j * w + - (i * w)) by ring.
  replace (- - (i * w)) with (i * w) by ring.
  rewrite !exp_plus, !exp_Ropp. pose proof (exp_pos (j * w)). pose proof (exp_pos (i * w)).
  pose proof (exp_pos (j * w')). field. repeat split; apply Rgt_not_eq; assumption.
Qed.

(* No real rates other than 0 make HoPE's planes turn: RoPE with frequency u is no case of real HoPE (part of claim hope-6-real).
   False twin: "u = 0" becomes "u <> 0". *)
Theorem hope_at_real_rate_is_not_rope : forall w w' u,
  (forall q1 q2 k1 k2 j i, hope w w' q1 q2 k1 k2 j i = rope u q1 q2 k1 k2 j i) -> u = 0.
Proof.
  intros w w' u same. destruct (Req_dec u 0) as [zero|turns]; [exact zero|exfalso].
  specialize (same 1 0 1 0 (PI / 2 / u) 0). rewrite hope_relative, rope_relative in same.
  replace ((PI / 2 / u - 0) * u) with (PI / 2) in same by (field; exact turns).
  rewrite cos_PI2 in same.
  set (x := (PI / 2 / u - 0) * w) in same. set (y := - ((PI / 2 / u - 0) * w')) in same.
  pose proof (exp_pos y). pose proof (exp_pos x). pose proof (exp_pos (- x)).
  assert (0 < exp y * cosh x) by (apply Rmult_lt_0_compat; [assumption|unfold cosh; lra]).
  lra.
Qed.

(* The complex exponential, and cosh and sinh of a complex number. *)
Definition cexp (z : C) : C := (exp (fst z) * cos (snd z), exp (fst z) * sin (snd z)).
Definition ccosh (z : C) : C := ((cexp z + cexp (- z)) / 2)%C.
Definition csinh (z : C) : C := ((cexp z - cexp (- z)) / 2)%C.

(* HoPE at the imaginary rate i x, in the basis diag(1, i), is RoPE's rotation by x (claim hope-6-complex).
   False twin: "(Ci * turn2 x v1 v2)" becomes "(- Ci * turn2 x v1 v2)". *)
Theorem hope_at_imaginary_rate_is_rope : forall x v1 v2 : R,
  (ccosh (Ci * x) * v1 + csinh (Ci * x) * (Ci * v2))%C = RtoC (turn1 x v1 v2)
  /\ (csinh (Ci * x) * v1 + ccosh (Ci * x) * (Ci * v2))%C = (Ci * turn2 x v1 v2)%C.
Proof.
  intros. assert (H : forall z : R, cexp (Ci * z)%C = (cos z, sin z)).
  { intros. unfold cexp. simpl. replace (0 * z - 1 * 0) with 0 by ring.
    replace (0 * 0 + 1 * z) with z by ring. rewrite exp_0. f_equal; ring. }
  unfold ccosh, csinh. replace (- (Ci * x))%C with (Ci * RtoC (- x))%C by (rewrite RtoC_opp; ring).
  rewrite !H, cos_neg, sin_neg. unfold turn1, turn2.
  split; apply injective_projections; simpl; field.
Qed.
