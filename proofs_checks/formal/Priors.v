(* Priors on distances: which of them can be normalised, and what becomes of the nearest keys. *)

Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* BAM's prior at the distance D, e^-(c (D + eps)^b); the weight of a key of score s with it; and the share of the
   distances first to last among the first n. *)
Definition prior (c eps b : R) (D : nat) := exp (- (c * Rpower (INR D + eps) b)).
Definition weight (s c eps b : R) (D : nat) := exp (s + ln (prior c eps b D)).
Definition share_of (f : nat -> R) (first last n : nat) := sum_n_m f first last / sum_n f n.

Lemma telescope : ex_series (fun n => / ((INR n + 1) * (INR n + 2))).
Proof.
  exists 1. assert (is_lim_seq (sum_n (fun n => / ((INR n + 1) * (INR n + 2)))) 1) as limit; [|exact limit].
  apply (is_lim_seq_ext (fun n => 1 - / (INR n + 2))).
  - induction n as [|n IH].
    + rewrite sum_O. simpl. field.
    + rewrite sum_Sn, <- IH. change plus with Rplus. rewrite S_INR. pose proof (pos_INR n). field. lra.
  - replace (Finite 1) with (Rbar_minus 1 0) by (simpl; f_equal; ring).
    apply is_lim_seq_minus'; [apply is_lim_seq_const|].
    apply (is_lim_seq_inv _ p_infty); [|discriminate].
    apply (is_lim_seq_plus _ _ p_infty 2); [apply is_lim_seq_INR|apply is_lim_seq_const|reflexivity].
Qed.

Lemma prior_positive : forall c eps b D, 0 < prior c eps b D.
Proof. intros. apply exp_pos. Qed.
(* With an exponent that is not positive, no term is below the first. *)
Lemma prior_stays : forall c eps b D, 0 < c -> 0 < eps -> b <= 0 -> prior c eps b 0 <= prior c eps b D.
Proof.
  intros c eps b D Hc He Hb. unfold prior. pose proof (pos_INR D) as far.
  assert (Rpower (INR D + eps) b <= Rpower (INR 0 + eps) b) as lower.
  { unfold Rpower. simpl INR. rewrite Rplus_0_l.
    assert (ln eps <= ln (INR D + eps)).
    { destruct far as [far|far]; [left; apply ln_increasing; lra|rewrite <- far, Rplus_0_l; right; reflexivity]. }
    destruct (Rle_lt_or_eq_dec (b * ln (INR D + eps)) (b * ln eps)) as [less|same]; [nra| |].
    - left. apply exp_increasing. exact less.
    - right. f_equal. exact same. }
  assert (c * Rpower (INR D + eps) b <= c * Rpower (INR 0 + eps) b) by (apply Rmult_le_compat_l; lra).
  destruct (Rle_lt_or_eq_dec (- (c * Rpower (INR 0 + eps) b)) (- (c * Rpower (INR D + eps) b)))
    as [less|same]; [lra| |].
  - left. apply exp_increasing. exact less.
  - right. f_equal. exact same.
Qed.
(* With a positive exponent, terms fall at least like the square of the distance. *)
Lemma prior_falls : forall c eps b, 0 < c -> 0 < eps -> 0 < b ->
  exists most, 0 < most /\ forall D, prior c eps b D <= most * / ((INR D + 1) * (INR D + 2)).
Proof.
  intros c eps b Hc He Hb. set (s := ln (2 / b / c)).
  assert (0 < 2 / b) as Hr by (apply Rdiv_lt_0_compat; lra).
  assert (c * exp s = 2 / b) as top by (unfold s; rewrite exp_ln by (apply Rdiv_lt_0_compat; lra); field; lra).
  set (wide := 1 + 2 / eps). set (most := exp (2 / b * (s - 1)) * (wide * wide)).
  assert (0 < 2 / eps) by (apply Rdiv_lt_0_compat; lra).
  assert (0 < most) as Hm by (unfold most, wide; apply Rmult_lt_0_compat; [apply exp_pos|nra]).
  exists most. split; [exact Hm|]. intros D. unfold prior, Rpower. pose proof (pos_INR D) as far.
  set (y := INR D + eps). assert (0 < y) as Hy by (unfold y; lra).
  assert (exp (- (c * exp (b * ln y))) <= exp (2 / b * (s - 1)) / (y * y)) as square.
  { replace (exp (2 / b * (s - 1)) / (y * y)) with (exp (2 / b * (s - 1) - 2 * ln y)).
    2: { unfold Rminus at 1. rewrite exp_plus, exp_Ropp. replace (2 * ln y) with (ln y + ln y) by ring.
         rewrite exp_plus, !exp_ln by exact Hy. field. lra. }
    assert (- (c * exp (b * ln y)) <= 2 / b * (s - 1) - 2 * ln y) as order.
    { replace (b * ln y) with (s + (b * ln y - s)) by ring. rewrite exp_plus, <- Rmult_assoc, top.
      pose proof (exp_ineq1_le (b * ln y - s)) as tangent.
      assert (2 / b * (1 + (b * ln y - s)) <= 2 / b * exp (b * ln y - s)) by (apply Rmult_le_compat_l; lra).
      replace (2 / b * (1 + (b * ln y - s))) with (2 / b * (1 - s) + 2 * ln y) in * by (field; lra). lra. }
    destruct order as [less|same]; [left; apply exp_increasing; exact less|right; f_equal; exact same]. }
  apply (Rle_trans _ _ _ square). set (e := exp (2 / b * (s - 1))) in *.
  replace (e / (y * y)) with (e * / (y * y)) by (field; lra).
  replace (most * / ((INR D + 1) * (INR D + 2))) with (e * (wide * wide * / ((INR D + 1) * (INR D + 2))))
    by (unfold most; ring).
  apply Rmult_le_compat_l; [left; apply exp_pos|].
  assert (INR D + 2 <= wide * y) as reach.
  { unfold wide, y.
    replace ((1 + 2 / eps) * (INR D + eps)) with (INR D + 2 + (eps + 2 / eps * INR D)) by (field; lra). nra. }
  apply (Rmult_le_reg_r (y * y * ((INR D + 1) * (INR D + 2)))); [nra|].
  replace (/ (y * y) * (y * y * ((INR D + 1) * (INR D + 2)))) with ((INR D + 1) * (INR D + 2)) by (field; lra).
  replace (wide * wide * / ((INR D + 1) * (INR D + 2)) * (y * y * ((INR D + 1) * (INR D + 2))))
    with ((wide * y) * (wide * y)) by (field; lra).
  nra.
Qed.

Lemma sums_positive : forall f n, (forall D, 0 < f D) -> 0 < sum_n f n.
Proof.
  intros f n each. induction n as [|n IH]; [rewrite sum_O; apply each|].
  rewrite sum_Sn. change plus with Rplus. pose proof (each (S n)). lra.
Qed.

Lemma window_positive : forall f first last, (forall D, 0 < f D) -> (first <= last)%nat -> 0 < sum_n_m f first last.
Proof.
  intros f first last each le. induction le as [|last le IH]; [rewrite sum_n_n; apply each|].
  rewrite sum_n_Sm by lia. change plus with Rplus. pose proof (each (S last)). lra.
Qed.
(* Equal scores drop out of a share. *)
Lemma weights_share : forall s c eps b first last n,
  share_of (weight s c eps b) first last n = share_of (prior c eps b) first last n.
Proof.
  intros. assert (forall k m, sum_n_m (weight s c eps b) k m = exp s * sum_n_m (prior c eps b) k m) as scaled.
  { intros k m. rewrite <- (sum_n_m_mult_l (K := R_Ring) (exp s)). apply sum_n_m_ext. intros D. unfold weight.
    rewrite exp_plus, exp_ln by apply prior_positive. reflexivity. }
  unfold share_of, sum_n. rewrite !scaled. assert (0 < sum_n_m (prior c eps b) 0 n).
  { apply window_positive; [intros; apply prior_positive|lia]. }
  pose proof (exp_pos s). field. lra.
Qed.

(* The prior's sum over all distances is finite if and only if b > 0, at every scale; and at equal content the share of
   a fixed window of distances falls to 0 with growing context if and only if b <= 0 (claim bam-7). *)
Theorem bam_is_normalisable : forall c eps b, 0 < c -> 0 < eps ->
  (ex_series (prior c eps b) <-> 0 < b)
  /\ forall s first last, (first <= last)%nat ->
    (is_lim_seq (share_of (weight s c eps b) first last) 0 <-> b <= 0).
Proof.
  intros c eps b Hc He. set (p := prior c eps b). assert (forall D, 0 < p D) as each by (intros; apply exp_pos).
  assert (0 < b -> ex_series p) as finite.
  { intros Hb. destruct (prior_falls c eps b Hc He Hb) as [most [Hm falls]].
    apply (ex_series_le p (fun D => most * / ((INR D + 1) * (INR D + 2)))).
    - intros D. change norm with Rabs. rewrite Rabs_pos_eq; [apply falls|left; apply each].
    - exact (ex_series_scal_l most (fun D => / ((INR D + 1) * (INR D + 2))) telescope). }
  assert (b <= 0 -> forall n, INR n * p O <= sum_n p n) as grows.
  { intros Hb n. induction n as [|n IH].
    - rewrite sum_O. simpl. pose proof (each O). lra.
    - rewrite sum_Sn, S_INR. change plus with Rplus. pose proof (prior_stays c eps b (S n) Hc He Hb).
      unfold p in *. lra. }
  assert (b <= 0 -> is_lim_seq (sum_n p) p_infty) as without_bound.
  { intros Hb. apply (is_lim_seq_le_p_loc (fun n => INR n * p O)).
    - exists O. intros n _. apply grows. exact Hb.
    - apply (is_lim_seq_mult _ _ p_infty (p O)); [apply is_lim_seq_INR|apply is_lim_seq_const|].
      apply is_Rbar_mult_p_infty_pos. apply each. }
  split; [split|intros s first last le; split].
  - intros [l sums]. destruct (Rlt_le_dec 0 b) as [|Hb]; [assumption|exfalso].
    assert (is_lim_seq (sum_n p) l) as limit by exact sums.
    pose proof (is_lim_seq_unique _ _ limit) as one. pose proof (is_lim_seq_unique _ _ (without_bound Hb)) as other.
    rewrite one in other. discriminate.
  - exact finite.
  - intros share. destruct (Rlt_le_dec 0 b) as [Hb|]; [exfalso|assumption].
    apply (is_lim_seq_ext _ (share_of p first last)) in share; [|intros; apply weights_share].
    destruct (finite Hb) as [l sums]. assert (is_lim_seq (sum_n p) l) as limit by exact sums.
    assert (0 < sum_n_m p first last) as some by (apply window_positive; assumption).
    assert (forall n, sum_n p n <= l) as below.
    { intros n. apply (is_lim_seq_incr_compare _ _ limit). intros m. rewrite sum_Sn. change plus with Rplus.
      pose proof (each (S m)). lra. }
    assert (0 < l) as Hl by (pose proof (below O); pose proof (sums_positive p O each); lra).
    assert (Rbar_le (sum_n_m p first last / l) 0) as wrong.
    { apply (is_lim_seq_le (fun _ => sum_n_m p first last / l) (share_of p first last)).
      - intros n. unfold share_of. apply Rmult_le_compat_l; [lra|].
        apply Rinv_le_contravar; [apply sums_positive; exact each|apply below].
      - apply is_lim_seq_const.
      - exact share. }
    simpl in wrong. pose proof (Rdiv_lt_0_compat _ _ some Hl). lra.
  - intros Hb. apply (is_lim_seq_ext (share_of p first last)); [intros; symmetry; apply weights_share|].
    unfold share_of. replace (Finite 0) with (Rbar_mult (sum_n_m p first last) 0) by (simpl; f_equal; ring).
    apply is_lim_seq_scal_l. apply (is_lim_seq_inv _ p_infty); [apply without_bound; exact Hb|discriminate].
Qed.
Lemma bam_is_normalisable_twin : ~ (forall c eps b, 0 < c -> 0 < eps ->
  (ex_series (prior c eps b) <-> 0 < b)
  /\ forall s first last, (first <= last)%nat ->
    (is_lim_seq (share_of (weight s c eps b) first last) 0 <-> b < 0)).
Proof.
  intros H. destruct (H 1 1 0 Rlt_0_1 Rlt_0_1) as [_ wrong].
  destruct (bam_is_normalisable 1 1 0 Rlt_0_1 Rlt_0_1) as [_ right].
  pose proof (proj2 (right 0 O O (le_n O)) ltac:(lra)) as falls.
  pose proof (proj1 (wrong 0 O O (le_n O)) falls). lra.
Qed.
