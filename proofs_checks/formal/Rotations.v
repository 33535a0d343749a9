(* RoPE and HoPE: real sine, cosine and exponential, any real positions and frequencies. *)

Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* Rotation R(x) and hyperbolic rotation B(x) of a vector (v1, v2); the first and the second coordinate. *)
Definition turn1 (x v1 v2 : R) := cos x * v1 - sin x * v2.
Definition turn2 (x v1 v2 : R) := sin x * v1 + cos x * v2.
Definition boost1 (x v1 v2 : R) := cosh x * v1 + sinh x * v2.
Definition boost2 (x v1 v2 : R) := sinh x * v1 + cosh x * v2.

(* Sum over the planes of a head, each with its own frequency. *)
Fixpoint over (planes : nat) (f : nat -> R) : R := match planes with O => 0 | S p => over p f + f p end.
Lemma over_ext : forall planes f g, (forall p, f p = g p) -> over planes f = over planes g.
Proof. intros planes f g H. induction planes as [|p IH]; simpl; [reflexivity|]. rewrite IH, H. reflexivity. Qed.

(* Score of query (q1, q2) at position j and key (k1, k2) at position i in one plane. *)
Definition rope (w q1 q2 k1 k2 j i : R) :=
  turn1 (j * w) q1 q2 * turn1 (i * w) k1 k2 + turn2 (j * w) q1 q2 * turn2 (i * w) k1 k2.
Definition hope (w w' q1 q2 k1 k2 j i : R) :=
  (exp (- (j * w')) * boost1 (j * w) q1 q2) * (exp (i * w') * boost1 (- (i * w)) k1 k2)
  + (exp (- (j * w')) * boost2 (j * w) q1 q2) * (exp (i * w') * boost2 (- (i * w)) k1 k2).

Lemma rope_relative : forall w q1 q2 k1 k2 j i,
  rope w q1 q2 k1 k2 j i
  = (q1 * k1 + q2 * k2) * cos ((j - i) * w) + (q1 * k2 - q2 * k1) * sin ((j - i) * w).
Proof.
  intros. unfold rope, turn1, turn2.
  replace ((j - i) * w) with (j * w - i * w) by ring.
  rewrite cos_minus, sin_minus. ring.
Qed.

(* RoPE's score is the sum over planes of k^T R((j - i) w) q: a function of j - i, on any number of planes
   (claim rope-1). *)
Theorem rope_is_relative : forall planes w q1 q2 k1 k2 j i,
  over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) j i)
  = over planes (fun p => k1 p * turn1 ((j - i) * w p) (q1 p) (q2 p) + k2 p * turn2 ((j - i) * w p) (q1 p) (q2 p)).
Proof. intros. apply over_ext. intros p. rewrite rope_relative. unfold turn1, turn2. ring. Qed.
Lemma rope_is_relative_twin : ~ (forall planes w q1 q2 k1 k2 j i,
  over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) j i)
  = over planes (fun p => k1 p * turn1 ((j + i) * w p) (q1 p) (q2 p) + k2 p * turn2 ((j + i) * w p) (q1 p) (q2 p))).
Proof.
  intros H. specialize (H 1%nat (fun _ => 1) (fun _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 0) (PI / 2) (PI / 2)).
  rewrite rope_is_relative in H. simpl in H. unfold turn1, turn2 in H.
  replace ((PI / 2 - PI / 2) * 1) with 0 in H by ring. replace ((PI / 2 + PI / 2) * 1) with PI in H by field.
  rewrite cos_0, sin_0, cos_PI, sin_PI in H. lra.
Qed.

(* RoPE is orthogonal: it keeps scalar products at every position, and so norms, on any number of planes (claim rope-2).
   *)
Theorem rope_is_orthogonal : forall planes (w u1 u2 v1 v2 : nat -> R) x,
  over planes (fun p => turn1 (x * w p) (u1 p) (u2 p) * turn1 (x * w p) (v1 p) (v2 p)
    + turn2 (x * w p) (u1 p) (u2 p) * turn2 (x * w p) (v1 p) (v2 p))
  = over planes (fun p => u1 p * v1 p + u2 p * v2 p).
Proof.
  intros. apply over_ext. intros p. unfold turn1, turn2. pose proof (sin2_cos2 (x * w p)) as H. unfold Rsqr in H.
  transitivity ((sin (x * w p) * sin (x * w p) + cos (x * w p) * cos (x * w p)) * (u1 p * v1 p + u2 p * v2 p));
    [|rewrite H]; ring.
Qed.
Lemma rope_is_orthogonal_twin : ~ (forall planes (w u1 u2 v1 v2 : nat -> R) x,
  over planes (fun p => turn1 (x * w p) (u1 p) (u2 p) * turn1 (x * w p) (v1 p) (v2 p)
    + turn2 (x * w p) (u1 p) (u2 p) * turn2 (- x * w p) (v1 p) (v2 p))
  = over planes (fun p => u1 p * v1 p + u2 p * v2 p)).
Proof.
  intros H. specialize (H 1%nat (fun _ => 1) (fun _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 0) (PI / 2)).
  simpl in H. unfold turn1, turn2 in H. rewrite !Rmult_1_r, sin_neg, sin_PI2, cos_neg, cos_PI2 in H. lra.
Qed.

Lemma hope_relative : forall w w' q1 q2 k1 k2 j i,
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

(* HoPE's score depends on positions through D = j - i alone: on each plane it is a channel that falls by e^-(w' - w) a
   step and one that falls by e^-(w' + w) (claim hope-1). *)
Theorem hope_has_two_channels : forall planes (w w' q1 q2 k1 k2 : nat -> R) j i,
  over planes (fun p => hope (w p) (w' p) (q1 p) (q2 p) (k1 p) (k2 p) j i)
  = over planes (fun p => (q1 p + q2 p) * (k1 p + k2 p) / 2 * exp (- (w' p - w p) * (j - i))
      + (q1 p - q2 p) * (k1 p - k2 p) / 2 * exp (- (w' p + w p) * (j - i))).
Proof.
  intros. apply over_ext. intros p. rewrite hope_relative.
  replace (- (w' p - w p) * (j - i)) with (- ((j - i) * w' p) + (j - i) * w p) by ring.
  replace (- (w' p + w p) * (j - i)) with (- ((j - i) * w' p) + - ((j - i) * w p)) by ring.
  rewrite !exp_plus. unfold cosh, sinh. field.
Qed.
Lemma hope_has_two_channels_twin : ~ (forall planes (w w' q1 q2 k1 k2 : nat -> R) j i,
  over planes (fun p => hope (w p) (w' p) (q1 p) (q2 p) (k1 p) (k2 p) j i)
  = over planes (fun p => (q1 p + q2 p) * (k1 p + k2 p) / 2 * exp (- (w' p - w p) * (j - i))
      + (q1 p - q2 p) * (k1 p - k2 p) / 2 * exp (- (w' p - w p) * (j - i)))).
Proof.
  intros H. specialize (H 1%nat (fun _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 0) 1 0).
  rewrite hope_has_two_channels in H. simpl in H.
  pose proof (exp_increasing (- (0 + 1) * (1 - 0)) (- (0 - 1) * (1 - 0)) ltac:(lra)). lra.
Qed.

(* Sum of c r^n over a list of pairs (c, r). *)
Fixpoint powers (terms : list (R * R)) (n : nat) : R :=
  match terms with nil => 0 | (c, r) :: rest => c * r ^ n + powers rest n end.
Definition positive (terms : list (R * R)) := forall term, In term terms -> 0 < snd term.

Lemma powers_app : forall first second n, powers (first ++ second) n = powers first n + powers second n.
Proof. induction first as [|[c r] rest IH]; intros; simpl; [ring|]. rewrite IH. ring. Qed.
(* The next term less r times this one: r itself goes, and every other factor changes. *)
Definition without (r : R) (terms : list (R * R)) := map (fun term => (fst term * (snd term - r), snd term)) terms.
Lemma powers_step : forall terms r n, powers terms (S n) - r * powers terms n = powers (without r terms) n.
Proof. induction terms as [|[c s] rest IH]; intros; simpl; [ring|]. rewrite <- IH. simpl. ring. Qed.
Lemma positive_without : forall r terms, positive terms -> positive (without r terms).
Proof.
  intros r terms each term inside. apply in_map_iff in inside. destruct inside as [old [same inside]].
  subst term. simpl. apply each. exact inside.
Qed.

Definition turning (a b t : R) (n : nat) := a * cos (INR n * t) - b * sin (INR n * t).
Lemma turning_next : forall a b t n, turning a b t (S n)
  = turning (a * cos t - b * sin t) (a * sin t + b * cos t) t n.
Proof.
  intros. unfold turning. rewrite S_INR. replace ((INR n + 1) * t) with (INR n * t + t) by ring.
  rewrite cos_plus, sin_plus. ring.
Qed.

(* A sum of powers of positive numbers never turns. *)
Lemma powers_do_not_turn : forall t, cos t <> 1 -> forall size terms, length terms = size -> positive terms ->
  forall a b, (forall n, turning a b t n = powers terms n) -> a = 0.
Proof.
  intros t turns. pose proof (sin2_cos2 t) as circle. unfold Rsqr in circle.
  induction size as [|size IH]; intros terms long each a b same.
  - destruct terms; [|discriminate]. specialize (same O). unfold turning in same. simpl in same.
    rewrite Rmult_0_l, cos_0, sin_0 in same. lra.
  - destruct terms as [|[c r] rest]; [discriminate|].
    assert (0 < r) as above by (apply (each (c, r)); left; reflexivity).
    set (a' := a * (cos t - r) - b * sin t). set (b' := a * sin t + b * (cos t - r)).
    assert (forall n, turning a' b' t n = powers (without r rest) n) as next.
    { intros n. rewrite <- powers_step. pose proof (same (S n)) as later. pose proof (same n) as now.
      rewrite turning_next in later. simpl in later, now. unfold turning, a', b' in *.
      replace (powers rest (S n) - r * powers rest n)
        with ((c * (r * r ^ n) + powers rest (S n)) - r * (c * r ^ n + powers rest n)) by ring.
      rewrite <- later, <- now. ring. }
    assert (positive (without r rest)) as others
      by (apply positive_without; intros term inside; apply each; right; exact inside).
    assert (length (without r rest) = size) as short by (unfold without; rewrite map_length; simpl in long; lia).
    pose proof (IH _ short others a' b' next) as first.
    assert (a' * cos t - b' * sin t = 0) as second.
    { apply (IH (map (fun term => (fst term * snd term, snd term)) (without r rest)))
        with (b := a' * sin t + b' * cos t).
      - rewrite map_length. exact short.
      - intros term inside. apply in_map_iff in inside. destruct inside as [old [equal inside]].
        subst term. simpl. apply others. exact inside.
      - intros n. rewrite <- turning_next, next. clear. induction (without r rest) as [|[d s] more IH]; simpl;
          [reflexivity|]. rewrite IH. ring. }
    rewrite first in second. unfold a' in first. subst b'. simpl in second.
    destruct (Req_dec (sin t) 0) as [flat|slanted].
    + rewrite flat in *.
      assert ((cos t - 1) * (cos t + 1) = 0) as ends by nra.
      apply Rmult_integral in ends. assert (cos t = - (1)) as back by lra. rewrite back in *.
      assert (a * (- (1) - r) = 0) as none by lra. apply Rmult_integral in none. lra.
    + set (b' := a * sin t + b * (cos t - r)) in *.
      assert (b' * sin t = 0) as none by (replace (b' * sin t) with (- (0 * cos t - b' * sin t)) by ring; lra).
      apply Rmult_integral in none. destruct none as [none|]; [unfold b' in none|contradiction].
      assert (a * ((cos t - r) * (cos t - r) + sin t * sin t) = 0) as product
        by (transitivity ((a * (cos t - r) - b * sin t) * (cos t - r) + (a * sin t + b * (cos t - r)) * sin t);
          [ring|rewrite first, none; ring]).
      apply Rmult_integral in product. destruct product as [|zero]; [assumption|].
      pose proof (Rsqr_pos_lt (sin t) slanted) as some. unfold Rsqr in some.
      pose proof (Rle_0_sqr (cos t - r)) as other. unfold Rsqr in other. lra.
Qed.

(* A matrix times contents of that many numbers, and scores of heads at the distance D. *)
Definition times (width : nat) (W : nat -> nat -> R) (x : nat -> R) (row : nat) := over width (fun k => W row k * x k).
Definition rope_head (planes : nat) (u x y : nat -> R) (D : R) :=
  over planes (fun p => rope (u p) (x (2 * p)%nat) (x (2 * p + 1)%nat) (y (2 * p)%nat) (y (2 * p + 1)%nat) D 0).
Definition hope_head (planes : nat) (w w' x y : nat -> R) (D : R) :=
  over planes (fun p => hope (w p) (w' p) (x (2 * p)%nat) (x (2 * p + 1)%nat) (y (2 * p)%nat) (y (2 * p + 1)%nat) D 0).

Lemma over_same : forall n f g, (forall p, (p < n)%nat -> f p = g p) -> over n f = over n g.
Proof. induction n; intros; simpl; [reflexivity|]. rewrite (IHn f g), (H n); auto. Qed.
Lemma over_one : forall n k f, (k < n)%nat -> (forall p, p <> k -> f p = 0) -> over n f = f k.
Proof.
  assert (forall n f, (forall p, (p < n)%nat -> f p = 0) -> over n f = 0) as none.
  { induction n; intros f zero; simpl; [reflexivity|]. rewrite IHn, zero; auto. ring. }
  induction n as [|n IH]; intros k f inside zero; [lia|]. simpl. destruct (Nat.eq_dec k n) as [last|before].
  - subst k. rewrite none; [ring|]. intros p less. apply zero. lia.
  - rewrite (IH k), (zero n); [ring|lia|lia|exact zero].
Qed.
Lemma exp_steps : forall a n, exp a ^ n = exp (a * INR n).
Proof.
  induction n as [|n IH]; [simpl; rewrite Rmult_0_r, exp_0; reflexivity|].
  rewrite S_INR, Rmult_plus_distr_l, exp_plus, Rmult_1_r, <- IH. simpl. ring.
Qed.
Lemma head_of_powers : forall planes w w' x y, exists terms, positive terms /\
  forall n, hope_head planes w w' x y (INR n) = powers terms n.
Proof.
  intros planes w w' x y. unfold hope_head. induction planes as [|p [terms [each same]]].
  - exists nil. split; [intros term []|reflexivity].
  - exists (((x (2 * p)%nat + x (2 * p + 1)%nat) * (y (2 * p)%nat + y (2 * p + 1)%nat) / 2, exp (- (w' p - w p)))
      :: ((x (2 * p)%nat - x (2 * p + 1)%nat) * (y (2 * p)%nat - y (2 * p + 1)%nat) / 2, exp (- (w' p + w p)))
      :: terms).
    split.
    + intros term [first|[second|other]]; [subst term; apply exp_pos|subst term; apply exp_pos|apply each; exact other].
    + intros n. simpl. rewrite same, !exp_steps.
      pose proof (hope_has_two_channels 1 (fun _ => w p) (fun _ => w' p) (fun _ => x (2 * p)%nat)
        (fun _ => x (2 * p + 1)%nat) (fun _ => y (2 * p)%nat) (fun _ => y (2 * p + 1)%nat) (INR n) 0) as channels.
      simpl in channels. rewrite !Rplus_0_l, Rminus_0_r in channels. rewrite channels. ring.
Qed.

Lemma full_turn : forall t, cos t = 1 <-> exists k : Z, t = 2 * IZR k * PI.
Proof.
  intros t. split.
  - intros one. pose proof (cos_2a_sin (t / 2)) as half. replace (2 * (t / 2)) with t in half by field.
    assert (sin (t / 2) = 0) as flat by nra.
    destruct (sin_eq_0_0 _ flat) as [k turns]. exists k. lra.
  - intros [k turns]. subst t. replace (2 * IZR k * PI) with (2 * (IZR k * PI)) by ring.
    rewrite cos_2a_sin, sin_eq_0_1; [ring|]. exists k. reflexivity.
Qed.

(* A head of HoPE, of any number of planes, with any real parameters, W_q and W_k, has RoPE's score for all contents at
   every distance 0, 1, 2, ... if and only if every frequency of RoPE is a multiple of 2 pi. Then RoPE is the same at
   all distances, and HoPE with theta = theta' = 0 has its score (claim hope-6-real). *)
Theorem hope_is_rope_at_full_turns_alone : forall planes u,
  let turns := forall p, (p < planes)%nat -> exists k : Z, u p = 2 * IZR k * PI in
  ((exists channels w w' Wq Wk, forall x y n,
    hope_head channels w w' (times (2 * planes) Wq x) (times (2 * planes) Wk y) (INR n)
    = rope_head planes u x y (INR n)) <-> turns)
  /\ (turns -> forall x y n, rope_head planes u x y (INR n) = rope_head planes u x y 0
    /\ hope_head planes (fun _ => 0) (fun _ => 0) x y (INR n) = rope_head planes u x y (INR n)).
Proof.
  intros planes u full.
  assert (full -> forall x y n, rope_head planes u x y (INR n) = rope_head planes u x y 0
    /\ hope_head planes (fun _ => 0) (fun _ => 0) x y (INR n) = rope_head planes u x y (INR n)) as constant.
  { intros turns x y n.
    assert (forall p, (p < planes)%nat -> cos (INR n * u p) = 1 /\ sin (INR n * u p) = 0) as whole.
    { intros p inside. destruct (turns p inside) as [k turn]. rewrite turn.
      replace (INR n * (2 * IZR k * PI)) with (2 * IZR (Z.of_nat n * k) * PI)
        by (rewrite mult_IZR, <- INR_IZR_INZ; ring).
      split; [apply full_turn; eexists; reflexivity|]. apply sin_eq_0_1. exists (2 * (Z.of_nat n * k))%Z.
      rewrite !mult_IZR. ring. }
    split; apply over_same; intros p inside; destruct (whole p inside) as [cosine sine].
    - rewrite !rope_relative, !Rminus_0_r, cosine, sine, Rmult_0_l, cos_0, sin_0. ring.
    - rewrite hope_relative, rope_relative, Rminus_0_r, cosine, sine, !Rmult_0_r, Ropp_0, exp_0, cosh_0, sinh_0. ring. }
  split; [split|exact constant].
  - intros [channels [w [w' [Wq [Wk same]]]]] p inside. apply full_turn.
    destruct (Req_dec (cos (u p)) 1) as [|turns]; [assumption|exfalso].
    set (unit := fun k => if Nat.eqb k (2 * p) then 1 else 0).
    specialize (same unit unit).
    destruct (head_of_powers channels w w' (times (2 * planes) Wq unit) (times (2 * planes) Wk unit))
      as [terms [each powered]].
    assert (1 = 0) as wrong; [|lra].
    apply (powers_do_not_turn (u p) turns (length terms) terms eq_refl each 1 0).
    intros n. rewrite <- powered, same. unfold rope_head, turning.
    rewrite (over_one planes p _ inside); unfold unit.
    + rewrite rope_relative, Nat.eqb_refl, (proj2 (Nat.eqb_neq (2 * p + 1) (2 * p))) by lia.
      rewrite Rminus_0_r. ring.
    + intros other differs. rewrite rope_relative, !(proj2 (Nat.eqb_neq _ (2 * p))) by lia. ring.
  - intros turns. exists planes, (fun _ => 0), (fun _ => 0).
    set (same := fun row k : nat => if Nat.eqb k row then 1 else 0). exists same, same.
    assert (forall x row, (row < 2 * planes)%nat -> times (2 * planes) same x row = x row) as kept.
    { intros x row inside. unfold times. rewrite (over_one _ row _ inside); unfold same.
      - rewrite Nat.eqb_refl. ring.
      - intros k differs. rewrite (proj2 (Nat.eqb_neq k row)) by exact differs. ring. }
    intros x y n. rewrite <- (proj2 (constant turns x y n)). unfold hope_head. apply over_same. intros p inside.
    rewrite !kept by lia. reflexivity.
Qed.
Lemma hope_is_rope_at_full_turns_alone_twin : ~ (forall planes u,
  let turns := forall p, (p < planes)%nat -> exists k : Z, u p = IZR k * PI in
  ((exists channels w w' Wq Wk, forall x y n,
    hope_head channels w w' (times (2 * planes) Wq x) (times (2 * planes) Wk y) (INR n)
    = rope_head planes u x y (INR n)) <-> turns)
  /\ (turns -> forall x y n, rope_head planes u x y (INR n) = rope_head planes u x y 0
    /\ hope_head planes (fun _ => 0) (fun _ => 0) x y (INR n) = rope_head planes u x y (INR n))).
Proof.
  intros H. destruct (H 1%nat (fun _ => PI)) as [[_ half] _].
  assert (forall p, (p < 1)%nat -> exists k : Z, (fun _ : nat => PI) p = IZR k * PI) as turns
    by (intros; exists 1%Z; lra).
  apply half in turns. destruct (hope_is_rope_at_full_turns_alone 1%nat (fun _ => PI)) as [[alone _] _].
  destruct (alone turns 0%nat ltac:(lia)) as [k turn]. pose proof PI_RGT_0. assert (1 = 2 * IZR k) as whole by nra.
  rewrite <- mult_IZR in whole. apply eq_IZR in whole. lia.
Qed.

(* The complex exponential, and cosh and sinh of a complex number. *)
Definition cexp (z : C) : C := (exp (fst z) * cos (snd z), exp (fst z) * sin (snd z)).
Definition ccosh (z : C) : C := ((cexp z + cexp (- z)) / 2)%C.
Definition csinh (z : C) : C := ((cexp z - cexp (- z)) / 2)%C.

Lemma hope_turns : forall x v1 v2 : R,
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
Lemma hope_turns_back : forall x v1 v2 : R,
  (ccosh (- (Ci * x)) * v1 + csinh (- (Ci * x)) * (- Ci * v2))%C = RtoC (turn1 x v1 v2)
  /\ (csinh (- (Ci * x)) * v1 + ccosh (- (Ci * x)) * (- Ci * v2))%C = (- Ci * turn2 x v1 v2)%C.
Proof.
  intros. destruct (hope_turns x v1 v2) as [first second]. unfold ccosh, csinh in *.
  replace (- - (Ci * x))%C with (Ci * x)%C by ring. split; [rewrite <- first|].
  - field. intros E. apply (f_equal fst) in E. simpl in E. lra.
  - transitivity (- (Ci * turn2 x v1 v2))%C; [rewrite <- second|ring].
    field. intros E. apply (f_equal fst) in E. simpl in E. lra.
Qed.

Fixpoint cover (planes : nat) (f : nat -> C) : C := match planes with O => RtoC 0 | S p => (cover p f + f p)%C end.
Definition complex_hope (x y : C) (q1 q2 k1 k2 : C) : C :=
  ((ccosh x * q1 + csinh x * q2) * (ccosh (- y) * k1 + csinh (- y) * k2)
   + (csinh x * q1 + ccosh x * q2) * (csinh (- y) * k1 + ccosh (- y) * k2))%C.
Lemma real_cosh : forall x : R, ccosh x = RtoC (cosh x) /\ csinh x = RtoC (sinh x).
Proof.
  intros x. unfold ccosh, csinh, cexp, cosh, sinh. simpl. rewrite Ropp_0, cos_0, sin_0.
  split; apply injective_projections; simpl; field.
Qed.
Lemma same_scores : forall planes (w q1 q2 k1 k2 : nat -> R) (j i : R),
  cover planes (fun p =>
    complex_hope (Ci * (j * w p)%R) (Ci * (i * w p)%R) (q1 p) (Ci * q2 p) (k1 p) (- Ci * k2 p))%C
  = RtoC (over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) j i)).
Proof.
  intros. induction planes as [|p IH]; [reflexivity|]. simpl. rewrite IH, RtoC_plus. f_equal.
  unfold complex_hope, rope. destruct (hope_turns (j * w p) (q1 p) (q2 p)) as [E1 E2].
  destruct (hope_turns_back (i * w p) (k1 p) (k2 p)) as [F1 F2]. rewrite E1, E2, F1, F2.
  rewrite RtoC_plus, !RtoC_mult. replace (Ci * turn2 (j * w p) (q1 p) (q2 p) * (- Ci * turn2 (i * w p) (k1 p) (k2 p)))%C
    with (- (Ci * Ci) * (turn2 (j * w p) (q1 p) (q2 p) * turn2 (i * w p) (k1 p) (k2 p)))%C by ring.
  replace (Ci * Ci)%C with (- (1))%C by (apply injective_projections; simpl; ring). ring.
Qed.

(* HoPE without damping, for complex rates: at real rates it is real HoPE, and at the imaginary rate i w, in the basis
   C = diag(1, i), C^-1 B C is RoPE's rotation, and HoPE's scores of C q and C^-1 k are RoPE's scores of q and k, on any
   number of planes (claim hope-6-complex). *)
Theorem hope_at_imaginary_rate_is_rope :
  (forall (w q1 q2 k1 k2 j i : R),
    complex_hope (j * w)%R (i * w)%R q1 q2 k1 k2 = RtoC (hope w 0 q1 q2 k1 k2 j i))
  /\ (forall x v1 v2 : R, (ccosh (Ci * x) * v1 + csinh (Ci * x) * (Ci * v2))%C = RtoC (turn1 x v1 v2)
    /\ (csinh (Ci * x) * v1 + ccosh (Ci * x) * (Ci * v2))%C = (Ci * turn2 x v1 v2)%C)
  /\ forall planes (w q1 q2 k1 k2 : nat -> R) (j i : R),
    cover planes (fun p =>
      complex_hope (Ci * (j * w p)%R) (Ci * (i * w p)%R) (q1 p) (Ci * q2 p) (k1 p) (- Ci * k2 p))%C
    = RtoC (over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) j i)).
Proof.
  split; [|split; [exact hope_turns|exact same_scores]].
  intros. unfold complex_hope. rewrite <- RtoC_opp. destruct (real_cosh (j * w)) as [E1 E2].
  destruct (real_cosh (- (i * w))) as [F1 F2]. rewrite E1, E2, F1, F2, <- !RtoC_mult, <- !RtoC_plus, <- !RtoC_mult,
    <- RtoC_plus. f_equal. unfold hope, boost1, boost2. rewrite !Rmult_0_r, Ropp_0, exp_0. ring.
Qed.
Lemma hope_at_imaginary_rate_is_rope_twin : ~ (
  (forall (w q1 q2 k1 k2 j i : R),
    complex_hope (j * w)%R (i * w)%R q1 q2 k1 k2 = RtoC (hope w 0 q1 q2 k1 k2 j i))
  /\ (forall x v1 v2 : R, (ccosh (Ci * x) * v1 + csinh (Ci * x) * (Ci * v2))%C = RtoC (turn1 x v1 v2)
    /\ (csinh (Ci * x) * v1 + ccosh (Ci * x) * (Ci * v2))%C = (Ci * turn2 x v1 v2)%C)
  /\ forall planes (w q1 q2 k1 k2 : nat -> R) (j i : R),
    cover planes (fun p =>
      complex_hope (Ci * (j * w p)%R) (Ci * (i * w p)%R) (q1 p) (Ci * q2 p) (k1 p) (Ci * k2 p))%C
    = RtoC (over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) j i))).
Proof.
  intros [_ [_ H]]. specialize (H 1%nat (fun _ => 0) (fun _ => 0) (fun _ => 1) (fun _ => 0) (fun _ => 1) 0 0).
  assert (zero : (Ci * (0 * 0)%R)%C = RtoC 0) by (apply injective_projections; simpl; ring).
  simpl in H. rewrite zero in H. apply (f_equal fst) in H.
  unfold complex_hope, ccosh, csinh, cexp, rope, turn1, turn2 in H. simpl in H.
  rewrite !Rmult_0_l, ?Ropp_0, exp_0, cos_0, sin_0 in H. lra.
Qed.

(* The sinusoidal code has (sin p w, cos p w) on each plane. The code of position n + k is M_k times the code of n, for
   every n, M_k = (cos k w, sin k w; - sin k w, cos k w) on each plane, and M_k is orthogonal (claim sin-1). *)
Theorem sinusoidal_codes_turn : forall (w : nat -> R) k p,
  (forall n, sin ((n + k) * w p) = cos (k * w p) * sin (n * w p) + sin (k * w p) * cos (n * w p)
    /\ cos ((n + k) * w p) = - sin (k * w p) * sin (n * w p) + cos (k * w p) * cos (n * w p))
  /\ cos (k * w p) * cos (k * w p) + - sin (k * w p) * - sin (k * w p) = 1
  /\ cos (k * w p) * sin (k * w p) + - sin (k * w p) * cos (k * w p) = 0
  /\ sin (k * w p) * sin (k * w p) + cos (k * w p) * cos (k * w p) = 1.
Proof.
  intros w k p. pose proof (sin2_cos2 (k * w p)) as H. unfold Rsqr in H. repeat split; try lra.
  - rewrite Rmult_plus_distr_r, sin_plus. ring.
  - rewrite Rmult_plus_distr_r, cos_plus. ring.
Qed.
Lemma sinusoidal_codes_turn_twin : ~ (forall (w : nat -> R) k p,
  (forall n, sin ((n + k) * w p) = cos (k * w p) * sin (n * w p) + sin (k * w p) * cos (n * w p)
    /\ cos ((n + k) * w p) = sin (k * w p) * sin (n * w p) + cos (k * w p) * cos (n * w p))
  /\ cos (k * w p) * cos (k * w p) + - sin (k * w p) * - sin (k * w p) = 1
  /\ cos (k * w p) * sin (k * w p) + - sin (k * w p) * cos (k * w p) = 0
  /\ sin (k * w p) * sin (k * w p) + cos (k * w p) * cos (k * w p) = 1).
Proof.
  intros H. destruct (H (fun _ => 1) (PI / 2) 0%nat) as [turns _]. destruct (turns (PI / 2)) as [_ second].
  replace ((PI / 2 + PI / 2) * 1) with PI in second by field.
  rewrite Rmult_1_r, sin_PI2, cos_PI2, cos_PI in second. lra.
Qed.

(* All sinusoidal codes of D = 2 planes numbers have the squared norm D / 2 (claim sin-3). *)
Theorem sinusoidal_codes_have_one_norm : forall planes w n,
  over planes (fun p => sin (n * w p) ^ 2 + cos (n * w p) ^ 2) = (2 * INR planes) / 2.
Proof.
  intros planes w n. rewrite (over_ext planes _ (fun _ => 1)).
  - induction planes as [|p IH]; [simpl; field|]. rewrite S_INR. simpl. rewrite IH. field.
  - intros p. pose proof (sin2_cos2 (n * w p)) as H. unfold Rsqr in H. rewrite <- H. ring.
Qed.
Lemma sinusoidal_codes_have_one_norm_twin : ~ (forall planes w n,
  over planes (fun p => sin (n * w p) ^ 2 + cos (n * w p) ^ 2) = 2 * INR planes).
Proof.
  intros H. specialize (H 1%nat (fun _ => 1) 0). rewrite sinusoidal_codes_have_one_norm in H. simpl in H. lra.
Qed.

(* Dividing positions by s is dividing every frequency of RoPE by s: the rotations are the same, and so are all scores
   (claim pi-1). *)
Theorem interpolation_slows : forall (w : nat -> R) s, s <> 0 ->
  (forall p n v1 v2, turn1 (n / s * w p) v1 v2 = turn1 (n * (w p / s)) v1 v2
    /\ turn2 (n / s * w p) v1 v2 = turn2 (n * (w p / s)) v1 v2)
  /\ forall planes q1 q2 k1 k2 j i, over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) (j / s) (i / s))
    = over planes (fun p => rope (w p / s) (q1 p) (q2 p) (k1 p) (k2 p) j i).
Proof.
  intros w s Hs. assert (same : forall n p, n / s * w p = n * (w p / s)) by (intros; field; exact Hs).
  split; intros; [rewrite same; split; reflexivity|]. apply over_ext. intros p. unfold rope. rewrite !same. reflexivity.
Qed.
Lemma interpolation_slows_twin : ~ (forall (w : nat -> R) s, s <> 0 ->
  (forall p n v1 v2, turn1 (n / s * w p) v1 v2 = turn1 (n * (w p * s)) v1 v2
    /\ turn2 (n / s * w p) v1 v2 = turn2 (n * (w p / s)) v1 v2)
  /\ forall planes q1 q2 k1 k2 j i, over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) (j / s) (i / s))
    = over planes (fun p => rope (w p / s) (q1 p) (q2 p) (k1 p) (k2 p) j i)).
Proof.
  intros H. destruct (H (fun _ => 2) 2 ltac:(lra)) as [turns _]. destruct (turns 0%nat (PI / 2) 1 0) as [first _].
  unfold turn1 in first. replace (PI / 2 / 2 * 2) with (PI / 2) in first by field.
  replace (PI / 2 * (2 * 2)) with (2 * PI) in first by field. rewrite cos_PI2, cos_2PI in first. lra.
Qed.

(* Interpolated neighbours differ by the angle theta / s in each plane (claim pi-6). *)
Theorem interpolated_neighbours : forall (w v1 v2 : nat -> R) s i p, s <> 0 ->
  turn1 ((i + 1) / s * w p) (v1 p) (v2 p)
    = turn1 (w p / s) (turn1 (i / s * w p) (v1 p) (v2 p)) (turn2 (i / s * w p) (v1 p) (v2 p))
  /\ turn2 ((i + 1) / s * w p) (v1 p) (v2 p)
    = turn2 (w p / s) (turn1 (i / s * w p) (v1 p) (v2 p)) (turn2 (i / s * w p) (v1 p) (v2 p)).
Proof.
  intros w v1 v2 s i p Hs. replace ((i + 1) / s * w p) with (w p / s + i / s * w p) by (field; exact Hs).
  unfold turn1, turn2. rewrite cos_plus, sin_plus. split; ring.
Qed.
Lemma interpolated_neighbours_twin : ~ (forall (w v1 v2 : nat -> R) s i p, s <> 0 ->
  turn1 ((i + 1) / s * w p) (v1 p) (v2 p)
    = turn1 (w p) (turn1 (i / s * w p) (v1 p) (v2 p)) (turn2 (i / s * w p) (v1 p) (v2 p))
  /\ turn2 ((i + 1) / s * w p) (v1 p) (v2 p)
    = turn2 (w p) (turn1 (i / s * w p) (v1 p) (v2 p)) (turn2 (i / s * w p) (v1 p) (v2 p))).
Proof.
  intros H. destruct (H (fun _ => PI) (fun _ => 1) (fun _ => 0) 2 0 0%nat ltac:(lra)) as [false _].
  replace ((0 + 1) / 2 * PI) with (PI / 2) in false by field. replace (0 / 2 * PI) with 0 in false by field.
  unfold turn1, turn2 in false. rewrite cos_0, sin_0, cos_PI, sin_PI, cos_PI2, sin_PI2 in false. lra.
Qed.

(* xPos multiplies the query by zeta^(j / 512) and the key by zeta^(-i / 512) in each plane: the score depends on j - i
   alone, and is RoPE's kernel times zeta^((j - i) / 512) in each plane (claim xpos-1). *)
Theorem xpos_is_relative : forall planes (w zeta q1 q2 k1 k2 : nat -> R) j i, (forall p, 0 < zeta p) ->
  over planes (fun p => Rpower (zeta p) (j / 512) * turn1 (j * w p) (q1 p) (q2 p)
      * (Rpower (zeta p) (- i / 512) * turn1 (i * w p) (k1 p) (k2 p))
    + Rpower (zeta p) (j / 512) * turn2 (j * w p) (q1 p) (q2 p)
      * (Rpower (zeta p) (- i / 512) * turn2 (i * w p) (k1 p) (k2 p)))
  = over planes (fun p => Rpower (zeta p) ((j - i) / 512)
    * ((q1 p * k1 p + q2 p * k2 p) * cos ((j - i) * w p) + (q1 p * k2 p - q2 p * k1 p) * sin ((j - i) * w p))).
Proof.
  intros planes w zeta q1 q2 k1 k2 j i Hz. apply over_ext. intros p.
  rewrite <- rope_relative. unfold rope.
  replace ((j - i) / 512) with (j / 512 + - i / 512) by field. rewrite Rpower_plus. ring.
Qed.
Lemma xpos_is_relative_twin : ~ (forall planes (w zeta q1 q2 k1 k2 : nat -> R) j i, (forall p, 0 < zeta p) ->
  over planes (fun p => Rpower (zeta p) (j / 512) * turn1 (j * w p) (q1 p) (q2 p)
      * (Rpower (zeta p) (i / 512) * turn1 (i * w p) (k1 p) (k2 p))
    + Rpower (zeta p) (j / 512) * turn2 (j * w p) (q1 p) (q2 p)
      * (Rpower (zeta p) (i / 512) * turn2 (i * w p) (k1 p) (k2 p)))
  = over planes (fun p => Rpower (zeta p) ((j - i) / 512)
    * ((q1 p * k1 p + q2 p * k2 p) * cos ((j - i) * w p) + (q1 p * k2 p - q2 p * k1 p) * sin ((j - i) * w p)))).
Proof.
  intros H. specialize (H 1%nat (fun _ => 0) (fun _ => exp 1) (fun _ => 1) (fun _ => 0) (fun _ => 1) (fun _ => 0) 512
    512
    ltac:(intros; apply exp_pos)).
  simpl in H. unfold Rpower, turn1, turn2 in H. rewrite ln_exp, !Rmult_0_r, cos_0, sin_0 in H.
  replace ((512 - 512) / 512 * 1) with 0 in H by field. replace (512 / 512 * 1) with 1 in H by field.
  rewrite exp_0 in H. pose proof (exp_increasing 0 1 ltac:(lra)). rewrite exp_0 in *.
  pose proof (Rmult_gt_0_lt_compat 1 (exp 1) 1 (exp 1) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). lra.
Qed.

(* YaRN mixes each frequency w with w / s by a ramp and multiplies queries and keys by 0.1 ln s + 1: at s = 1 each
   frequency is w, the factor is 1, and the score is RoPE's, whatever the ramp (claim yarn-5). *)
Theorem yarn_at_one_is_rope : forall (w ramp : nat -> R),
  let frequency s p := ramp p * w p + (1 - ramp p) * (w p / s) in let factor s := 1 / 10 * ln s + 1 in
  let yarn s planes q1 q2 k1 k2 j i := over planes (fun p =>
    rope (frequency s p) (factor s * q1 p) (factor s * q2 p) (factor s * k1 p) (factor s * k2 p) j i) in
  (forall p, frequency 1 p = w p) /\ factor 1 = 1 /\ forall planes q1 q2 k1 k2 j i,
    yarn 1 planes q1 q2 k1 k2 j i = over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) j i).
Proof.
  intros w ramp frequency factor yarn. assert (same : forall p, frequency 1 p = w p) by (intros; unfold frequency;
    field).
  assert (one : factor 1 = 1) by (unfold factor; rewrite ln_1; ring). split; [exact same|]. split; [exact one|].
  intros. apply over_ext. intros p. rewrite same, one, !Rmult_1_l. reflexivity.
Qed.
Lemma yarn_at_one_is_rope_twin : ~ (forall (w ramp : nat -> R),
  let frequency s p := ramp p * w p + (1 - ramp p) * (w p / s) in let factor s := 1 / 10 * ln s + 1 in
  let yarn s planes q1 q2 k1 k2 j i := over planes (fun p =>
    rope (frequency s p) (factor s * q1 p) (factor s * q2 p) (factor s * k1 p) (factor s * k2 p) j i) in
  (forall p, frequency 2 p = w p) /\ factor 1 = 1 /\ forall planes q1 q2 k1 k2 j i,
    yarn 1 planes q1 q2 k1 k2 j i = over planes (fun p => rope (w p) (q1 p) (q2 p) (k1 p) (k2 p) j i)).
Proof. intros H. destruct (H (fun _ => 1) (fun _ => 0)) as [false _]. specialize (false 0%nat). simpl in false. lra.
Qed.
