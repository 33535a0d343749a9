(* Histograms of positions that tokens move: when the largest place is the number of tokens. *)

Require Import Reals Lra Lia.
Open Scope R_scope.

(* Power of a mass; that of no mass is 0. *)
Definition power (x gamma : R) : R := if Rle_dec x 0 then 0 else Rpower x gamma.
(* A token moves the share p of each of P places on by one, but for the last, and keeps the rest. *)
Definition moved (p : R) (P : nat) (h : nat -> R) (k : nat) : R :=
  p * (match k with O => 0 | S j => h j end + if Nat.eqb k (pred P) then h k else 0) + (1 - p) * h k.
(* PRISM's histogram over P places after t tokens: all mass starts at place 0; each token moves it, and then all masses
   are raised to the power gamma and divided by their sum. *)
Fixpoint histogram (p gamma : R) (P t : nat) (k : nat) : R :=
  match t with
  | O => match k with O => 1 | S _ => 0 end
  | S s => power (moved p P (histogram p gamma P s) k) gamma
      / sum_f_R0 (fun j => power (moved p P (histogram p gamma P s) j) gamma) (pred P)
  end.

Lemma power_nonnegative : forall x gamma, 0 <= power x gamma.
Proof. intros. unfold power. destruct (Rle_dec x 0); [lra|left; apply exp_pos]. Qed.
Lemma power_positive : forall x gamma, 0 < x -> 0 < power x gamma.
Proof. intros. unfold power. destruct (Rle_dec x 0); [lra|apply exp_pos]. Qed.
Lemma power_mono : forall x y gamma, 0 < gamma -> x <= y -> power x gamma <= power y gamma.
Proof.
  intros x y gamma Hg le. unfold power. destruct (Rle_dec x 0), (Rle_dec y 0); try lra.
  - left. apply exp_pos.
  - apply Rle_Rpower_l; lra.
Qed.
Lemma power_quotient : forall x y gamma, 0 < y -> power x gamma / power y gamma = power (x / y) gamma.
Proof.
  intros x y gamma Hy. unfold power. pose proof (Rinv_0_lt_compat y Hy) as back.
  destruct (Rle_dec y 0); [lra|]. destruct (Rle_dec x 0), (Rle_dec (x / y) 0).
  - unfold Rdiv. ring.
  - exfalso. apply n0. unfold Rdiv. nra.
  - exfalso. unfold Rdiv in *. nra.
  - unfold Rpower. unfold Rdiv. rewrite <- exp_Ropp, <- exp_plus, ln_mult, ln_Rinv by lra. f_equal. ring.
Qed.

(* Place before the mode over the mode itself, where r are the odds against an increment. *)
Fixpoint before (r gamma : R) (t : nat) : R := match t with O => 0 | S s => power (before r gamma s + r) gamma end.

Lemma sum_positive : forall f n k, (forall j, 0 <= f j) -> (k <= n)%nat -> 0 < f k -> 0 < sum_f_R0 f n.
Proof.
  intros f n k nonnegative. induction n as [|n IH]; intros le pos; simpl.
  - replace k with O in pos by lia. exact pos.
  - assert (0 <= sum_f_R0 f n) by (apply cond_pos_sum; exact nonnegative). pose proof (nonnegative (S n)).
    destruct (Nat.eq_dec k (S n)) as [E|ne]; [subst; lra|]. assert (0 < sum_f_R0 f n) by (apply IH; [lia|exact pos]).
    lra.
Qed.
Lemma moved_is : forall p P h k, h (pred P) = 0 ->
  moved p P h k = p * match k with O => 0 | S j => h j end + (1 - p) * h k.
Proof.
  intros p P h k empty. unfold moved. destruct (Nat.eqb_spec k (pred P)) as [E|_]; [subst; rewrite empty|]; ring.
Qed.
Lemma histogram_masses : forall p gamma P t, 0 < p < 1 -> (t < P)%nat ->
  (forall k, 0 <= histogram p gamma P t k) /\ 0 < histogram p gamma P t t
  /\ (forall k, (t < k)%nat -> histogram p gamma P t k = 0).
Proof.
  intros p gamma P t Hp. induction t as [|t IH]; intros lt.
  - simpl. split; [intros [|k]; lra|]. split; [lra|]. intros [|k] H; [lia|reflexivity].
  - destruct IH as [nonnegative [positive nothing]]; [lia|].
    set (sharp := fun j => power (moved p P (histogram p gamma P t) j) gamma).
    assert (forall k, moved p P (histogram p gamma P t) k
      = p * match k with O => 0 | S j => histogram p gamma P t j end + (1 - p) * histogram p gamma P t k) as moves.
    { intros k. apply moved_is. apply nothing. lia. }
    assert (0 < sharp (S t)) as top.
    { unfold sharp. rewrite moves. apply power_positive. rewrite (nothing (S t)) by lia. nra. }
    assert (0 < sum_f_R0 sharp (pred P)) as all.
    { apply (sum_positive _ _ (S t)); [intros; apply power_nonnegative|lia|exact top]. }
    pose proof (Rinv_0_lt_compat _ all) as back. split; [|split].
    + intros k. change (0 <= sharp k / sum_f_R0 sharp (pred P)). apply Rmult_le_pos; [apply power_nonnegative|lra].
    + change (0 < sharp (S t) / sum_f_R0 sharp (pred P)). apply Rmult_lt_0_compat; assumption.
    + intros k lt'. change (sharp k / sum_f_R0 sharp (pred P) = 0). unfold sharp at 1, power. rewrite moves.
      destruct k as [|k]; [lia|]. rewrite (nothing k), (nothing (S k)) by lia.
      destruct (Rle_dec (p * 0 + (1 - p) * 0) 0); [unfold Rdiv; ring|lra].
Qed.
(* Masses over the mode's, after one more token. *)
Lemma ratio_step : forall p gamma P t k, 0 < p < 1 -> (S t < P)%nat ->
  histogram p gamma P (S t) k / histogram p gamma P (S t) (S t)
  = power (match k with O => 0 | S j => histogram p gamma P t j / histogram p gamma P t t end
           + (1 - p) / p * (histogram p gamma P t k / histogram p gamma P t t)) gamma.
Proof.
  intros p gamma P t k Hp lt.
  destruct (histogram_masses p gamma P t Hp) as [nonnegative [positive nothing]]; [lia|].
  set (sharp := fun j => power (moved p P (histogram p gamma P t) j) gamma).
  assert (forall j, moved p P (histogram p gamma P t) j
    = p * match j with O => 0 | S i => histogram p gamma P t i end + (1 - p) * histogram p gamma P t j) as moves.
  { intros j. apply moved_is. apply nothing. lia. }
  assert (moved p P (histogram p gamma P t) (S t) = p * histogram p gamma P t t) as top.
  { rewrite moves, (nothing (S t)) by lia. ring. }
  assert (0 < p * histogram p gamma P t t) as Htop by nra.
  assert (0 < sharp (S t)) as Hsharp by (unfold sharp; rewrite top; apply power_positive; exact Htop).
  assert (0 < sum_f_R0 sharp (pred P)) as all.
  { apply (sum_positive _ _ (S t)); [intros; apply power_nonnegative|lia|exact Hsharp]. }
  change (sharp k / sum_f_R0 sharp (pred P) / (sharp (S t) / sum_f_R0 sharp (pred P))
    = power (match k with O => 0 | S j => histogram p gamma P t j / histogram p gamma P t t end
           + (1 - p) / p * (histogram p gamma P t k / histogram p gamma P t t)) gamma).
  replace (sharp k / sum_f_R0 sharp (pred P) / (sharp (S t) / sum_f_R0 sharp (pred P))) with (sharp k / sharp (S t))
    by (field; lra).
  unfold sharp. rewrite top, power_quotient by exact Htop. f_equal. rewrite moves. destruct k as [|j]; field; lra.
Qed.
Lemma before_is : forall p gamma P t, 0 < p < 1 -> (S t < P)%nat ->
  histogram p gamma P (S t) t / histogram p gamma P (S t) (S t) = before ((1 - p) / p) gamma (S t).
Proof.
  intros p gamma P t Hp. induction t as [|t IH]; intros lt; rewrite ratio_step by assumption.
  - simpl. f_equal. field. lra.
  - destruct (histogram_masses p gamma P (S t) Hp) as [_ [positive _]]; [lia|].
    rewrite IH by lia. change (before ((1 - p) / p) gamma (S (S t)))
      with (power (before ((1 - p) / p) gamma (S t) + (1 - p) / p) gamma). f_equal. field. lra.
Qed.
Lemma before_nonnegative : forall r gamma t, 0 <= before r gamma t.
Proof. intros r gamma [|t]; simpl; [lra|apply power_nonnegative]. Qed.
(* As long as the place before stays below the mode, all others are at most as high as it. *)
Lemma others_below : forall p gamma P t, 0 < p < 1 -> 0 < gamma -> (t < P)%nat ->
  (forall s, before ((1 - p) / p) gamma s <= 1) ->
  forall k, (k < t)%nat -> histogram p gamma P t k / histogram p gamma P t t <= before ((1 - p) / p) gamma t.
Proof.
  intros p gamma P t Hp Hg. induction t as [|t IH]; intros lt low k Hk; [lia|].
  destruct (Nat.eq_dec k t) as [E|ne]; [subst; right; apply before_is; assumption|].
  rewrite ratio_step by assumption. simpl before. apply power_mono; [exact Hg|].
  assert (0 < (1 - p) / p) as odds by (apply Rdiv_lt_0_compat; lra).
  pose proof (IH ltac:(lia) low k ltac:(lia)) as here. pose proof (low t) as small.
  apply Rplus_le_compat.
  - destruct k as [|j]; [apply before_nonnegative|]. apply IH; [lia|exact low|lia].
  - rewrite <- (Rmult_1_r ((1 - p) / p)) at 2. apply Rmult_le_compat_l; lra.
Qed.

(* Where x^gamma has the slope 1: at x = e^c. *)
Lemma touching : forall gamma, 1 < gamma -> let c := - (ln gamma / (gamma - 1)) in
  Rpower gamma (- (gamma / (gamma - 1))) = exp (gamma * c) /\ gamma * exp (gamma * c) = exp c.
Proof.
  intros gamma Hg c. split.
  - unfold Rpower. f_equal. unfold c. field. lra.
  - replace (gamma * c) with (c + - ln gamma) by (unfold c; field; lra).
    rewrite exp_plus, exp_Ropp, exp_ln by lra. field. lra.
Qed.
(* x^gamma lies above its tangent of slope 1. *)
Lemma above_tangent : forall gamma x, 1 < gamma -> 0 < x ->
  x - (gamma - 1) * Rpower gamma (- (gamma / (gamma - 1))) <= Rpower x gamma.
Proof.
  intros gamma x Hg Hx. set (c := - (ln gamma / (gamma - 1))). set (d := ln x - c).
  destruct (touching gamma Hg) as [B slope]. fold c in B, slope.
  assert (Rpower x gamma = exp (gamma * c) * exp (gamma * d)) as Hp.
  { unfold Rpower. rewrite <- exp_plus. f_equal. unfold d. ring. }
  assert (x = exp c * exp d) as Hx'.
  { rewrite <- exp_plus. unfold d. replace (c + (ln x - c)) with (ln x) by ring. symmetry. apply exp_ln. exact Hx. }
  rewrite B, Hp, Hx', <- slope. set (e := exp (gamma * c)).
  assert (0 < e) as He by apply exp_pos.
  assert (gamma * exp d <= exp (gamma * d) + (gamma - 1)) as key.
  { pose proof (exp_ineq1_le (gamma * d - d)) as first. pose proof (exp_ineq1_le (- d)) as second.
    assert (exp (gamma * d) = exp d * exp (gamma * d - d)) as E1 by (rewrite <- exp_plus; f_equal; ring).
    assert (1 = exp d * exp (- d)) as E2 by (rewrite <- exp_plus, Rplus_opp_r, exp_0; reflexivity).
    pose proof (exp_pos d) as Hd.
    assert (exp d * (1 + (gamma * d - d)) <= exp (gamma * d)) by (rewrite E1; apply Rmult_le_compat_l; lra).
    assert (exp d * (1 + - d) <= 1) by (rewrite E2 at 2; apply Rmult_le_compat_l; lra).
    nra. }
  nra.
Qed.
Lemma stays_low : forall r gamma, 1 < gamma -> 0 < r -> r <= (gamma - 1) * Rpower gamma (- (gamma / (gamma - 1))) ->
  forall t, before r gamma t <= Rpower gamma (- (gamma / (gamma - 1))) < 1.
Proof.
  intros r gamma Hg Hr small. set (c := - (ln gamma / (gamma - 1))).
  destruct (touching gamma Hg) as [B slope]. fold c in B, slope.
  assert (c < 0) as Hc.
  { unfold c. assert (0 < ln gamma) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (0 < ln gamma / (gamma - 1)) by (apply Rdiv_lt_0_compat; lra). lra. }
  rewrite B in *. intros t. split.
  - induction t as [|t IH]; [left; apply exp_pos|]. cbn [before]. pose proof (before_nonnegative r gamma t).
    apply Rle_trans with (power (exp c) gamma).
    + apply power_mono; lra.
    + unfold power. destruct (Rle_dec (exp c) 0); [left; apply exp_pos|]. unfold Rpower. rewrite ln_exp. right.
      reflexivity.
  - rewrite <- exp_0. apply exp_increasing. nra.
Qed.
Lemma grows : forall (f : nat -> R) step, 0 < step -> 0 <= f 0%nat -> (forall t, f t + step <= f (S t)) ->
  exists t, 1 <= f t.
Proof.
  intros f step Hs start more. destruct (archimed_cor1 step Hs) as [n [Hn pos]]. exists n.
  assert (forall t, INR t * step <= f t) as linear.
  { induction t as [|t IH]; [simpl; lra|]. rewrite S_INR. pose proof (more t). lra. }
  assert (0 < INR n) as Hpos by (apply lt_0_INR; exact pos). pose proof (linear n).
  apply (Rmult_lt_compat_l (INR n)) in Hn; [|exact Hpos]. rewrite Rinv_r in Hn by lra. lra.
Qed.
Lemma passes : forall r gamma, 0 < gamma -> 0 < r -> (forall t, before r gamma t < 1) ->
  1 < gamma /\ r <= (gamma - 1) * Rpower gamma (- (gamma / (gamma - 1))).
Proof.
  intros r gamma Hg Hr low. destruct (Rlt_dec 1 gamma) as [large|small].
  - split; [exact large|]. apply Rnot_lt_le. intros above.
    destruct (grows (before r gamma) (r - (gamma - 1) * Rpower gamma (- (gamma / (gamma - 1))))) as [t Ht];
      [lra|simpl; lra| |pose proof (low t); lra].
    intros t. cbn [before]. pose proof (before_nonnegative r gamma t) as nonnegative. unfold power.
    destruct (Rle_dec (before r gamma t + r) 0); [lra|].
    pose proof (above_tangent gamma (before r gamma t + r) large ltac:(lra)). lra.
  - exfalso. destruct (grows (before r gamma) r) as [t Ht]; [exact Hr|simpl; lra| |pose proof (low t); lra].
    intros t. pose proof (low (S t)) as next. cbn [before] in *.
    pose proof (before_nonnegative r gamma t) as nonnegative.
    unfold power in *. destruct (Rle_dec (before r gamma t + r) 0); [lra|]. set (y := before r gamma t + r) in *.
    assert (y <= 1) as Hy.
    { apply Rnot_lt_le. intros big. assert (0 < ln y) by (rewrite <- ln_1; apply ln_increasing; lra).
      unfold Rpower in next. assert (exp 0 < exp (gamma * ln y)) by (apply exp_increasing; nra).
      rewrite exp_0 in *. lra. }
    assert (ln y <= 0) as Hl.
    { rewrite <- ln_1. destruct Hy as [less|same]; [left; apply ln_increasing; lra|rewrite same; right; reflexivity]. }
    assert (ln y <= gamma * ln y) as order by nra. unfold Rpower.
    rewrite <- (exp_ln y) at 1 by lra.
    destruct order as [less|same]; [left; apply exp_increasing; exact less|right; f_equal; exact same].
Qed.

(* If each token increments with probability p and keeps otherwise, and the histogram has more places than there are
   tokens, its largest place is the number of tokens, after every number of them, if and only if gamma > 1 and the odds
   against an increment are at most (gamma - 1) gamma^(-gamma/(gamma - 1)) (claim prism-7). *)
Theorem prism_counts : forall p gamma, 0 < p < 1 -> 0 < gamma ->
  (forall P t k, (t < P)%nat -> (k < P)%nat -> k <> t -> histogram p gamma P t k < histogram p gamma P t t)
  <-> 1 < gamma /\ (1 - p) / p <= (gamma - 1) * Rpower gamma (- (gamma / (gamma - 1))).
Proof.
  intros p gamma Hp Hg. assert (0 < (1 - p) / p) as odds by (apply Rdiv_lt_0_compat; lra). split.
  - intros mode. apply passes; [exact Hg|exact odds|]. intros [|t]; [simpl; lra|].
    rewrite <- (before_is p gamma (S (S t)) t Hp) by lia.
    destruct (histogram_masses p gamma (S (S t)) (S t) Hp) as [_ [positive _]]; [lia|].
    apply (Rmult_lt_reg_r (histogram p gamma (S (S t)) (S t) (S t))); [exact positive|].
    replace (histogram p gamma (S (S t)) (S t) t / histogram p gamma (S (S t)) (S t) (S t)
      * histogram p gamma (S (S t)) (S t) (S t)) with (histogram p gamma (S (S t)) (S t) t) by (field; lra).
    rewrite Rmult_1_l. apply mode; lia.
  - intros [large small] P t k Ht Hk ne. pose proof (stays_low _ _ large odds small) as low.
    destruct (histogram_masses p gamma P t Hp Ht) as [_ [positive nothing]].
    destruct (Nat.lt_ge_cases t k) as [after|upto]; [rewrite nothing by exact after; exact positive|].
    assert (histogram p gamma P t k / histogram p gamma P t t < 1) as less.
    { apply Rle_lt_trans with (before ((1 - p) / p) gamma t);
        [|apply Rle_lt_trans with (1 := proj1 (low t)), low; exact O].
      apply others_below; try assumption; [|lia]. intros s. destruct (low s). lra. }
    apply (Rmult_lt_compat_r (histogram p gamma P t t)) in less; [|exact positive].
    replace (histogram p gamma P t k / histogram p gamma P t t * histogram p gamma P t t)
      with (histogram p gamma P t k) in less by (field; lra). lra.
Qed.
Lemma prism_counts_twin : ~ (forall p gamma, 0 < p < 1 -> 0 < gamma ->
  (forall P t k, (t < P)%nat -> (k < P)%nat -> k <> t -> histogram p gamma P t k < histogram p gamma P t t)
  <-> 1 < gamma /\ (1 - p) / p < (gamma - 1) * Rpower gamma (- (gamma / (gamma - 1)))).
Proof.
  intros H. assert (Rpower 2 (- (2 / (2 - 1))) = 1 / 4) as quarter.
  { replace (- (2 / (2 - 1))) with (- INR 2) by (simpl; field). rewrite Rpower_Ropp, Rpower_pow by lra. field. }
  assert (forall P t k, (t < P)%nat -> (k < P)%nat -> k <> t ->
    histogram (4 / 5) 2 P t k < histogram (4 / 5) 2 P t t) as mode.
  { apply prism_counts; [lra|lra|]. rewrite quarter. lra. }
  apply H in mode; [|lra|lra]. rewrite quarter in mode. lra.
Qed.
