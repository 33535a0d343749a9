(* GRAPE: exponentials of rank-2 generators and unipotent one-parameter groups, in every dimension d. *)

Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* Vectors and matrices of dimension d are functions of indices below d. *)
Definition vector := nat -> R.
Definition matrix := nat -> nat -> R.
Fixpoint sum (d : nat) (f : nat -> R) : R := match d with O => 0 | S k => sum k f + f k end.
Definition dot (d : nat) (a b : vector) : R := sum d (fun k => a k * b k).
Definition mul (d : nat) (A B : matrix) : matrix := fun i j => sum d (fun k => A i k * B k j).
Definition one : matrix := fun i j => if Nat.eqb i j then 1 else 0.
Definition axis (n : nat) : vector := fun k => one k n.
Fixpoint power (d : nat) (A : matrix) (n : nat) : matrix :=
  match n with O => one | S k => mul d A (power d A k) end.

(* E is the exponential of x A: each of its entries is the sum of the exponential series. *)
Definition is_exponential (d : nat) (A : matrix) (x : R) (E : matrix) : Prop :=
  forall i j, (i < d)%nat -> (j < d)%nat ->
  infinite_sum (fun n => / INR (fact n) * power d A n i j * x ^ n) (E i j).

(* GRAPE's generator L(a, b) = a b^T - b a^T, and the square of its speed. *)
Definition generator (a b : vector) : matrix := fun i j => a i * b j - b i * a j.
Definition squared_speed (d : nat) (a b : vector) : R := dot d a a * dot d b b - dot d a b * dot d a b.

Lemma sum_ext : forall d f g, (forall k, (k < d)%nat -> f k = g k) -> sum d f = sum d g.
Proof. induction d; intros; simpl; [reflexivity|]. rewrite (IHd f g), (H d); auto. Qed.
Lemma sum_linear : forall d x y f g, sum d (fun k => x * f k + y * g k) = x * sum d f + y * sum d g.
Proof. induction d; intros; simpl; [ring|]. rewrite IHd. ring. Qed.
Lemma sum_zero : forall d, sum d (fun _ => 0) = 0.
Proof. induction d; simpl; [reflexivity|]. rewrite IHd. ring. Qed.
Lemma sum_one : forall d (f : nat -> R) j, (j < d)%nat -> sum d (fun k => f k * one k j) = f j.
Proof.
  induction d; intros f j H; [lia|]. simpl. unfold one at 2. destruct (Nat.eqb_spec d j) as [E|E].
  - subst. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [ring|].
    intros k Hk. unfold one. destruct (Nat.eqb_spec k j); [lia|ring].
  - rewrite IHd by lia. ring.
Qed.
Lemma dot_sym : forall d a b, dot d a b = dot d b a.
Proof. intros. apply sum_ext. intros. ring. Qed.
Lemma mul_ext : forall d A B B' i j, (forall k, (k < d)%nat -> B k j = B' k j) -> mul d A B i j = mul d A B' i j.
Proof. intros. apply sum_ext. intros k Hk. rewrite H; auto. Qed.
Lemma mul_one : forall d A i j, (j < d)%nat -> mul d A one i j = A i j.
Proof. intros. apply (sum_one d (A i)). assumption. Qed.
Lemma mul_scale : forall d A B x i j, mul d A (fun i j => x * B i j) i j = x * mul d A B i j.
Proof.
  intros. unfold mul. rewrite <- (Rplus_0_r (x * _)), <- (Rmult_0_l (sum d (fun k => A i k * B k j))).
  rewrite <- sum_linear. apply sum_ext. intros. ring.
Qed.
Lemma generator_times : forall d a b X i j,
  mul d (generator a b) X i j = a i * dot d b (fun k => X k j) - b i * dot d a (fun k => X k j).
Proof.
  intros. unfold mul, dot, generator. replace (_ - _) with (a i * sum d (fun k => b k * X k j)
    + (- b i) * sum d (fun k => a k * X k j)) by ring.
  rewrite <- sum_linear. apply sum_ext. intros. ring.
Qed.
Lemma dot_generator : forall d a b v j, dot d v (fun k => generator a b k j) = b j * dot d v a - a j * dot d v b.
Proof.
  intros. unfold dot, generator. replace (_ - _) with (b j * sum d (fun k => v k * a k)
    + (- a j) * sum d (fun k => v k * b k)) by ring.
  rewrite <- sum_linear. apply sum_ext. intros. ring.
Qed.
Lemma square : forall d a b i j, mul d (generator a b) (generator a b) i j
  = a i * (b j * dot d a b - a j * dot d b b) - b i * (b j * dot d a a - a j * dot d a b).
Proof. intros. rewrite generator_times, !dot_generator, (dot_sym d b a). ring. Qed.

Lemma grape_cube : forall d a b i j,
  mul d (generator a b) (mul d (generator a b) (generator a b)) i j = - squared_speed d a b * generator a b i j.
Proof.
  intros. rewrite generator_times.
  assert (H : forall v, dot d v (fun k => mul d (generator a b) (generator a b) k j)
    = (b j * dot d a b - a j * dot d b b) * dot d v a + - (b j * dot d a a - a j * dot d a b) * dot d v b).
  { intros. unfold dot at 1. rewrite (sum_ext _ _ (fun k => (b j * dot d a b - a j * dot d b b) * (v k * a k)
      + - (b j * dot d a a - a j * dot d a b) * (v k * b k))) by (intros; rewrite square; ring).
    apply sum_linear. }
  rewrite !H, (dot_sym d b a). unfold squared_speed, generator. ring.
Qed.

Lemma odd_power : forall d a b n i j, (j < d)%nat ->
  power d (generator a b) (2 * n + 1) i j = (- squared_speed d a b) ^ n * generator a b i j
  /\ power d (generator a b) (2 * n + 2) i j
     = (- squared_speed d a b) ^ n * mul d (generator a b) (generator a b) i j.
Proof.
  intros d a b n i j Hj. set (L := generator a b). revert i.
  assert (first : forall i, power d L 1 i j = L i j) by (intros; apply mul_one; assumption).
  induction n as [|n IH]; intros i.
  - split; [change (2 * 0 + 1)%nat with 1%nat; rewrite first; simpl; ring|].
    change (power d L (2 * 0 + 2) i j) with (mul d L (power d L 1) i j).
    rewrite (mul_ext d L _ L) by (intros; apply first). rewrite pow_O. ring.
  - replace (2 * S n + 2)%nat with (S (2 * S n + 1)) by lia. replace (2 * S n + 1)%nat with (S (2 * n + 2)) by lia.
    assert (odd : forall k, power d L (S (2 * n + 2)) k j = (- squared_speed d a b) ^ S n * L k j).
    { intros k. change (mul d L (power d L (2 * n + 2)) k j = (- squared_speed d a b) ^ S n * L k j).
      rewrite (mul_ext d L _ (fun k j => (- squared_speed d a b) ^ n * mul d L L k j)) by (intros; apply IH).
      rewrite mul_scale. unfold L. rewrite grape_cube. simpl. ring. }
    split; [apply odd|].
    change (mul d L (power d L (S (2 * n + 2))) i j = (- squared_speed d a b) ^ S n * mul d L L i j).
    rewrite (mul_ext d L _ (fun k j => (- squared_speed d a b) ^ S n * L k j)) by (intros; apply odd).
    apply mul_scale.
Qed.

Lemma grape_exponential : forall d a b s x, s <> 0 -> s * s = squared_speed d a b ->
  is_exponential d (generator a b) x (fun i j =>
    one i j + sin (x * s) / s * generator a b i j
    + (1 - cos (x * s)) / (s * s) * mul d (generator a b) (generator a b) i j).
Proof.
  intros d a b s x Hs speed i j Hi Hj. apply is_series_Reals.
  set (L := generator a b). set (c := fun n => / INR (fact n) * power d L n i j).
  assert (factor : forall n, (- squared_speed d a b) ^ n = (-1) ^ n * (s * s) ^ n).
  { intros. rewrite <- Rpow_mult_distr. f_equal. rewrite <- speed. ring. }
  assert (sine : exists u, sin (x * s) = x * s * u
    /\ is_pseries (fun n => c (2 * n + 1)%nat) (x ^ 2) (u * L i j)).
  { unfold sin. destruct (exist_sin (Rsqr (x * s))) as [u Hu]. exists u. split; [reflexivity|].
    apply is_pseries_R. apply is_series_Reals in Hu.
    apply (is_series_scal_r (L i j)) in Hu. revert Hu. apply is_series_ext. intros n.
    unfold c. destruct (odd_power d a b n i j Hj) as [E _]. unfold L. rewrite E, factor.
    replace (Rsqr (x * s) ^ n) with ((s * s) ^ n * (x ^ 2) ^ n) by (unfold Rsqr; rewrite <- Rpow_mult_distr; f_equal;
      ring).
    match goal with |- ?l = ?r => change (@eq R l r) end. unfold scal, mult, sin_n. simpl scal. simpl mult.
    unfold mult. simpl. field. apply INR_fact_neq_0. }
  assert (cosine : is_pseries (fun n => c (2 * n)%nat) (x ^ 2)
    (one i j + (1 - cos (x * s)) / (s * s) * mul d L L i j)).
  { unfold cos. destruct (exist_cos (Rsqr (x * s))) as [u Hu].
    apply is_pseries_R. apply is_series_Reals in Hu.
    assert (shifted : is_series (fun n => cos_n (S n) * Rsqr (x * s) ^ S n) (u - 1)).
    { apply (is_series_incr_1 (fun n => cos_n n * Rsqr (x * s) ^ n)).
      match goal with |- is_series _ ?v => replace v with u; [exact Hu|] end.
      unfold plus, cos_n. simpl. field. }
    apply is_series_decr_1.
    apply (is_series_scal_r (- mul d L L i j / (s * s))) in shifted.
    assert (E : (u - 1) * (- mul d L L i j / (s * s))
      = one i j + (1 - u) / (s * s) * mul d L L i j + - (c (2 * 0)%nat * (x ^ 2) ^ 0))
      by (unfold c; simpl; field; exact Hs).
    assert (F : is_series (fun n => c (2 * S n)%nat * (x ^ 2) ^ S n) ((u - 1) * (- mul d L L i j / (s * s)))).
    { revert shifted. apply is_series_ext. intros n. unfold c.
      replace (2 * S n)%nat with (2 * n + 2)%nat by lia.
      destruct (odd_power d a b n i j Hj) as [_ F]. unfold L. rewrite F, factor.
      replace (Rsqr (x * s) ^ S n) with ((s * s) ^ S n * (x ^ 2) ^ S n)
        by (rewrite <- Rpow_mult_distr; f_equal; unfold Rsqr; ring).
      change ((s * s) ^ S n) with (s * s * (s * s) ^ n).
      unfold cos_n. replace (2 * n + 2)%nat with (2 * S n)%nat by lia.
      replace ((-1) ^ S n) with (- (-1) ^ n) by (simpl; ring).
      match goal with |- ?l = ?r => change (@eq R l r) end.
      field. split; [apply INR_fact_neq_0|exact Hs]. }
    exact (eq_ind _ (fun v : R => is_series (fun n => c (2 * S n)%nat * (x ^ 2) ^ S n) v) F _ E). }
  destruct sine as [u [sine odd]].
  apply is_pseries_R.
  replace (_ + _ + _) with ((one i j + (1 - cos (x * s)) / (s * s) * mul d L L i j) + x * (u * L i j)).
  - apply is_pseries_odd_even; assumption.
  - rewrite sine. unfold L. field. exact Hs.
Qed.

(* A matrix acting on a vector, and the transpose. *)
Definition act (d : nat) (A : matrix) (v : vector) : vector := fun i => sum d (fun k => A i k * v k).
Definition transpose (A : matrix) : matrix := fun i j => A j i.

Lemma sum_scale : forall d x f, sum d (fun k => x * f k) = x * sum d f.
Proof. induction d; intros; simpl; [ring|]. rewrite IHd. ring. Qed.
Lemma sum_plus : forall d f g, sum d (fun k => f k + g k) = sum d f + sum d g.
Proof. induction d; intros; simpl; [ring|]. rewrite IHd. ring. Qed.
Lemma sum_swap : forall d e f, sum d (fun k => sum e (fun l => f k l)) = sum e (fun l => sum d (fun k => f k l)).
Proof.
  intros d e f. induction d as [|d IH]; simpl; [symmetry; apply sum_zero|]. rewrite IH, <- sum_plus. reflexivity.
Qed.
Lemma act_ext : forall d A u v i, (forall k, (k < d)%nat -> u k = v k) -> act d A u i = act d A v i.
Proof. intros. apply sum_ext. intros k Hk. rewrite H by exact Hk. reflexivity. Qed.
Lemma act_mul : forall d A B v i, act d (mul d A B) v i = act d A (act d B v) i.
Proof.
  intros. unfold act, mul. rewrite (sum_ext d _ (fun k => sum d (fun l => A i l * (B l k * v k)))).
  - rewrite sum_swap. apply sum_ext. intros. apply sum_scale.
  - intros k _. rewrite Rmult_comm, <- sum_scale. apply sum_ext. intros. ring.
Qed.
Lemma act_one : forall d v i, (i < d)%nat -> act d one v i = v i.
Proof.
  intros d v i Hi. unfold act. rewrite <- (sum_one d v i Hi). apply sum_ext. intros k _.
  unfold one. rewrite Nat.eqb_sym. ring.
Qed.
Lemma dot_axis : forall d n v, (n < d)%nat -> dot d (axis n) v = v n.
Proof. intros d n v Hn. rewrite <- (sum_one d v n Hn). apply sum_ext. intros k _. unfold axis. ring. Qed.
Lemma act_generator : forall d a b v i, act d (generator a b) v i = a i * dot d b v - b i * dot d a v.
Proof.
  intros. unfold act, dot, generator. rewrite (sum_ext d _ (fun k => a i * (b k * v k) + - b i * (a k * v k))).
  - rewrite sum_linear. ring.
  - intros. ring.
Qed.

Lemma dot_self : forall d c, 0 <= dot d c c /\ (dot d c c = 0 -> forall i, (i < d)%nat -> c i = 0).
Proof.
  intros d c. induction d as [|d [positive zero]]; [split; [unfold dot; simpl; lra|intros; lia]|].
  unfold dot in *. simpl. pose proof (Rle_0_sqr (c d)) as square. unfold Rsqr in square. split; [lra|].
  intros E i Hi. destruct (Nat.eq_dec i d) as [same|other]; [subst; apply Rsqr_0_uniq; unfold Rsqr; lra|].
  apply zero; [lra|lia].
Qed.
(* Independent vectors have a positive speed: the strict inequality of Cauchy and Schwarz. *)
Definition independent (d : nat) (a b : vector) : Prop :=
  forall x y, (forall i, (i < d)%nat -> x * a i + y * b i = 0) -> x = 0 /\ y = 0.
Lemma speed_positive : forall d a b, independent d a b -> 0 < squared_speed d a b.
Proof.
  intros d a b free. set (c := fun i => dot d b b * a i + - dot d a b * b i).
  assert (long : 0 < dot d b b).
  { destruct (dot_self d b) as [[more|none] zero]; [exact more|exfalso].
    destruct (free 0 1) as [_ one]; [|lra]. intros i Hi. rewrite zero by (lra || exact Hi). ring. }
  assert (norm : dot d c c = dot d b b * squared_speed d a b).
  { unfold dot at 1, c.
    rewrite (sum_ext d _ (fun i => dot d b b * (dot d b b * (a i * a i) + - dot d a b * (a i * b i))
      + - dot d a b * (dot d b b * (a i * b i) + - dot d a b * (b i * b i)))) by (intros; ring).
    rewrite !sum_linear. fold (dot d a a) (dot d a b) (dot d b b). unfold squared_speed. ring. }
  destruct (dot_self d c) as [[more|none] zero].
  - rewrite norm in more. apply (Rmult_lt_reg_l (dot d b b)); [exact long|]. rewrite Rmult_0_r. exact more.
  - exfalso. destruct (free (dot d b b) (- dot d a b)) as [E _]; [|lra]. apply zero. symmetry. exact none.
Qed.

(* For independent a and b the exponential of x L, L = a b^T - b a^T, is I + sin(x s)/s L + (1 - cos(x s))/s^2 L^2 with
   s^2 = |a|^2 |b|^2 - (a.b)^2, and L^2 is -s^2 times the projector on the span of a and b: it takes them to -s^2 times
   themselves, and what is orthogonal to both to 0; in every dimension (claim grape-1). *)
Theorem grape_is_a_turn : forall d a b x, independent d a b ->
  let L := generator a b in let s := sqrt (dot d a a * dot d b b - dot d a b * dot d a b) in
  is_exponential d L x (fun i j => one i j + sin (x * s) / s * L i j + (1 - cos (x * s)) / (s * s) * mul d L L i j)
  /\ (forall i, act d (mul d L L) a i = - (s * s) * a i)
  /\ (forall i, act d (mul d L L) b i = - (s * s) * b i)
  /\ (forall v i, dot d a v = 0 -> dot d b v = 0 -> act d (mul d L L) v i = 0).
Proof.
  intros d a b x free L s. unfold L. pose proof (speed_positive d a b free) as positive.
  assert (speed : s * s = squared_speed d a b) by (apply sqrt_sqrt; left; exact positive).
  split; [apply grape_exponential; [apply Rgt_not_eq; apply sqrt_lt_R0; exact positive|exact speed]|].
  assert (square_acts : forall v i, act d (mul d (generator a b) (generator a b)) v i
    = a i * (dot d a b * dot d b v - dot d b b * dot d a v) - b i * (dot d a a * dot d b v - dot d a b * dot d a v)).
  { intros v i. rewrite act_mul, act_generator.
    assert (inner : forall c, dot d c (act d (generator a b) v) = dot d c a * dot d b v - dot d c b * dot d a v).
    { intros c. unfold dot at 1. rewrite (sum_ext d _ (fun k => dot d b v * (c k * a k) + - dot d a v * (c k * b k))).
      - rewrite sum_linear. unfold dot. ring.
      - intros k _. rewrite act_generator. ring. }
    rewrite !inner, (dot_sym d b a). ring. }
  rewrite speed. unfold squared_speed. repeat split; intros; rewrite square_acts.
  - rewrite (dot_sym d b a). ring.
  - ring.
  - rewrite H, H0. ring.
Qed.
Lemma axes_independent : independent 2 (axis 0) (axis 1).
Proof.
  intros x y zero. pose proof (zero 0%nat ltac:(lia)) as first. pose proof (zero 1%nat ltac:(lia)) as second.
  unfold axis, one in *. simpl in *. split; lra.
Qed.
Lemma grape_is_a_turn_twin : ~ (forall d a b x, independent d a b ->
  let L := generator a b in let s := sqrt (dot d a a * dot d b b - dot d a b * dot d a b) in
  is_exponential d L x (fun i j => one i j + sin (x * s) / s * L i j + (1 + cos (x * s)) / (s * s) * mul d L L i j)
  /\ (forall i, act d (mul d L L) a i = - (s * s) * a i)
  /\ (forall i, act d (mul d L L) b i = - (s * s) * b i)
  /\ (forall v i, dot d a v = 0 -> dot d b v = 0 -> act d (mul d L L) v i = 0)).
Proof.
  intros H. destruct (grape_is_a_turn 2 (axis 0) (axis 1) 0 axes_independent) as [E _].
  destruct (H 2%nat (axis 0) (axis 1) 0 axes_independent) as [F _].
  pose proof (uniqueness_sum _ _ _ (E 0%nat 0%nat ltac:(lia) ltac:(lia)) (F 0%nat 0%nat ltac:(lia) ltac:(lia))) as same.
  assert (unit : sqrt (dot 2 (axis 0) (axis 0) * dot 2 (axis 1) (axis 1) - dot 2 (axis 0) (axis 1) * dot 2 (axis 0)
    (axis 1)) = 1)
    by (rewrite <- sqrt_1; f_equal; unfold dot, axis, one; simpl; ring).
  rewrite unit, Rmult_0_l, cos_0 in same. unfold mul, generator, axis, one in same. simpl in same. lra.
Qed.

(* A product of factors, one for each plane. *)
Fixpoint product (d : nat) (factor : nat -> matrix) (planes : nat) : matrix :=
  match planes with O => one | S l => mul d (factor l) (product d factor l) end.
(* GRAPE's generator for the axes of plane l, which are the coordinates 2l and 2l + 1, counted from 0. *)
Definition of_plane (l : nat) : matrix := generator (axis (S (2 * l))) (axis (2 * l)).

Lemma plane_speed : forall d l, (S (2 * l) < d)%nat -> 1 * 1 = squared_speed d (axis (S (2 * l))) (axis (2 * l)).
Proof.
  intros d l Hl. unfold squared_speed. rewrite !dot_axis by lia. unfold axis, one.
  rewrite !Nat.eqb_refl. replace (Nat.eqb (S (2 * l)) (2 * l)) with false by (symmetry; apply Nat.eqb_neq; lia).
  replace (Nat.eqb (2 * l) (S (2 * l))) with false by (symmetry; apply Nat.eqb_neq; lia). ring.
Qed.
Lemma plane_turns : forall d l x E v i, (S (2 * l) < d)%nat -> (i < d)%nat -> is_exponential d (of_plane l) x E ->
  act d E v i = if Nat.eqb i (2 * l) then cos x * v (2 * l)%nat - sin x * v (S (2 * l))
    else if Nat.eqb i (S (2 * l)) then sin x * v (2 * l)%nat + cos x * v (S (2 * l)) else v i.
Proof.
  intros d l x E v i Hl Hi exponential. set (L := of_plane l).
  assert (entry : forall k, (k < d)%nat -> E i k = one i k + sin x * L i k + (1 - cos x) * mul d L L i k).
  { intros k Hk.
    pose proof (grape_exponential d _ _ 1 x R1_neq_R0 (plane_speed d l Hl) i k Hi Hk) as F.
    rewrite (uniqueness_sum _ _ _ (exponential i k Hi Hk) F). fold (of_plane l). fold L. rewrite Rmult_1_r. field. }
  transitivity (v i + sin x * act d L v i + (1 - cos x) * act d L (act d L v) i).
  { rewrite <- act_mul, <- (act_one d v i Hi) at 1. unfold act. rewrite <- !sum_scale, <- !sum_plus.
    apply sum_ext. intros k Hk. rewrite entry by exact Hk. ring. }
  unfold L, of_plane. rewrite !act_generator, !dot_axis by lia. rewrite !act_generator, !dot_axis by lia.
  unfold axis, one. rewrite !Nat.eqb_refl.
  replace (Nat.eqb (S (2 * l)) (2 * l)) with false by (symmetry; apply Nat.eqb_neq; lia).
  replace (Nat.eqb (2 * l) (S (2 * l))) with false by (symmetry; apply Nat.eqb_neq; lia).
  destruct (Nat.eqb_spec i (2 * l)) as [first|other].
  - subst i. replace (Nat.eqb (2 * l) (S (2 * l))) with false by (symmetry; apply Nat.eqb_neq; lia). ring.
  - destruct (Nat.eqb_spec i (S (2 * l))) as [second|neither]; [subst i|]; ring.
Qed.

(* RoPE is GRAPE: in any even dimension 2m, the product over planes of the exponentials of n theta_l L, L the generator
   of
   the axes 2l + 1 and 2l, turns each pair of coordinates by n theta_l (claim grape-5). *)
Theorem grape_is_rope : forall m (theta : nat -> R) n (factor : nat -> matrix),
  (forall l, (l < m)%nat -> is_exponential (2 * m) (of_plane l) (n * theta l) (factor l)) ->
  forall v l, (l < m)%nat -> let turned := act (2 * m) (product (2 * m) factor m) v in
  turned (2 * l)%nat = cos (n * theta l) * v (2 * l)%nat - sin (n * theta l) * v (S (2 * l))
  /\ turned (S (2 * l)) = sin (n * theta l) * v (2 * l)%nat + cos (n * theta l) * v (S (2 * l)).
Proof.
  intros m theta n factor exponential v.
  assert (H : forall planes, (planes <= m)%nat -> forall l, (l < m)%nat ->
    act (2 * m) (product (2 * m) factor planes) v (2 * l)%nat
      = (if Nat.ltb l planes then cos (n * theta l) * v (2 * l)%nat - sin (n * theta l) * v (S (2 * l)) else v (2 *
        l)%nat)
    /\ act (2 * m) (product (2 * m) factor planes) v (S (2 * l))
      = (if Nat.ltb l planes then sin (n * theta l) * v (2 * l)%nat + cos (n * theta l) * v (S (2 * l)) else v (S (2 *
        l)))).
  { induction planes as [|p IH]; intros Hp l Hl; [split; apply act_one; lia|].
    change (product (2 * m) factor (S p)) with (mul (2 * m) (factor p) (product (2 * m) factor p)). rewrite !act_mul.
    rewrite !(plane_turns (2 * m) p (n * theta p) (factor p)) by (lia || (apply exponential; lia)).
    destruct (IH ltac:(lia) l Hl) as [first second].
    replace (Nat.eqb (2 * l) (S (2 * p))) with false by (symmetry; apply Nat.eqb_neq; lia).
    replace (Nat.eqb (S (2 * l)) (2 * p)) with false by (symmetry; apply Nat.eqb_neq; lia).
    destruct (Nat.eqb_spec (2 * l) (2 * p)) as [same|other].
    - assert (l = p) by lia. subst p. rewrite Nat.eqb_refl, first, second, Nat.ltb_irrefl.
      replace (Nat.ltb l (S l)) with true by (symmetry; apply Nat.ltb_lt; lia). split; reflexivity.
    - replace (Nat.eqb (S (2 * l)) (S (2 * p))) with false by (symmetry; apply Nat.eqb_neq; lia).
      rewrite first, second. destruct (Nat.ltb_spec l p) as [below|above].
      + replace (Nat.ltb l (S p)) with true by (symmetry; apply Nat.ltb_lt; lia). split; reflexivity.
      + replace (Nat.ltb l (S p)) with false by (symmetry; apply Nat.ltb_ge; lia). split; reflexivity. }
  intros l Hl turned. destruct (H m (Nat.le_refl m) l Hl) as [first second]. unfold turned. rewrite first, second.
  replace (Nat.ltb l m) with true by (symmetry; apply Nat.ltb_lt; exact Hl). split; reflexivity.
Qed.
Lemma grape_is_rope_twin : ~ (forall m (theta : nat -> R) n (factor : nat -> matrix),
  (forall l, (l < m)%nat -> is_exponential (2 * m) (of_plane l) (n * theta l) (factor l)) ->
  forall v l, (l < m)%nat -> let turned := act (2 * m) (product (2 * m) factor m) v in
  turned (2 * l)%nat = cos (n * theta l) * v (2 * l)%nat + sin (n * theta l) * v (S (2 * l))
  /\ turned (S (2 * l)) = sin (n * theta l) * v (2 * l)%nat + cos (n * theta l) * v (S (2 * l))).
Proof.
  intros H.
  set (E := fun i j => one i j + sin (1 * (PI / 2) * 1) / 1 * of_plane 0 i j
    + (1 - cos (1 * (PI / 2) * 1)) / (1 * 1) * mul 2 (of_plane 0) (of_plane 0) i j).
  assert (exponential : forall l, (l < 1)%nat -> is_exponential (2 * 1) (of_plane l) (1 * (PI / 2)) E).
  { intros l Hl. replace l with 0%nat by lia. apply grape_exponential; [exact R1_neq_R0|apply plane_speed; lia]. }
  destruct (H 1%nat (fun _ => PI / 2) 1 (fun _ => E) exponential (axis 1) 0%nat ltac:(lia)) as [false _].
  destruct (grape_is_rope 1 (fun _ => PI / 2) 1 (fun _ => E) exponential (axis 1) 0%nat ltac:(lia)) as [true _].
  rewrite true in false. rewrite Rmult_1_l, sin_PI2, cos_PI2 in false. unfold axis, one in false. simpl in false. lra.
Qed.

(* The unipotent matrices I + t u v^T with v.u = 0. *)
Definition unipotent (u v : vector) (t : R) : matrix := fun i j => one i j + t * (u i * v j).
Lemma unipotent_group : forall d u v s t i j, dot d v u = 0 -> (i < d)%nat -> (j < d)%nat ->
  mul d (unipotent u v s) (unipotent u v t) i j = unipotent u v (s + t) i j.
Proof.
  intros d u v s t i j orthogonal Hi Hj. unfold mul, unipotent.
  rewrite (sum_ext _ _ (fun k => 1 * (one i k * one k j + t * v j * (u k * one k i)) + s * u i * (v k * one k j + t * v
    j * (v k * u k)))).
  2: { intros k Hk. replace (one k i) with (one i k); [ring|]. unfold one. rewrite Nat.eqb_sym. reflexivity. }
  rewrite sum_linear.
  rewrite (sum_ext _ _ (fun k => 1 * (one i k * one k j) + t * v j * (u k * one k i))) by (intros; ring).
  rewrite sum_linear, sum_one by assumption. rewrite (sum_one d u i Hi).
  rewrite (sum_ext _ (fun k => v k * one k j + _) (fun k => 1 * (v k * one k j) + t * v j * (v k * u k))) by (intros;
    ring).
  rewrite sum_linear, (sum_one d v j Hj). unfold dot in orthogonal. rewrite orthogonal. ring.
Qed.

Lemma act_unipotent : forall d u v t x i, (i < d)%nat -> act d (unipotent u v t) x i = x i + t * u i * dot d v x.
Proof.
  intros d u v t x i Hi. rewrite <- (act_one d x i Hi) at 1. unfold act, dot, unipotent.
  rewrite <- sum_scale, <- sum_plus. apply sum_ext. intros. ring.
Qed.
(* Score of a query that is moved by s and a key that is moved by the transpose of the element at t. *)
Lemma unipotent_score : forall d u v s t q k, dot d v u = 0 ->
  dot d (act d (unipotent u v s) q) (act d (transpose (unipotent u v t)) k) = dot d q k + (s + t) * dot d v q * dot d u
    k.
Proof.
  intros d u v s t q k orthogonal. unfold dot at 1.
  rewrite (sum_ext d _ (fun n => (q n * k n + s * dot d v q * (u n * k n))
    + (t * dot d u k * (v n * q n) + s * dot d v q * t * dot d u k * (v n * u n)))).
  - rewrite !sum_plus, !sum_scale. fold (dot d q k) (dot d u k) (dot d v q) (dot d v u). rewrite orthogonal. ring.
  - intros n Hn. rewrite act_unipotent by exact Hn.
    replace (act d (transpose (unipotent u v t)) k n) with (k n + t * v n * dot d u k); [ring|].
    rewrite <- (act_unipotent d v u t k n Hn). apply sum_ext. intros m _. unfold transpose, unipotent, one.
    rewrite Nat.eqb_sym. ring.
Qed.

(* Contents in d coordinates, with two more coordinates; the matrix I + t E has the entry t in row d + 1, column d. *)
Definition extended (d : nat) (q : vector) (x y : R) : vector := fun n =>
  if Nat.ltb n d then q n else if Nat.eqb n d then x else y.
Definition element (d : nat) (t : R) : matrix := unipotent (axis (S d)) (axis d) t.
Lemma element_group : forall d s t i j, (i < S (S d))%nat -> (j < S (S d))%nat ->
  mul (S (S d)) (element d s) (element d t) i j = element d (s + t) i j.
Proof.
  intros. apply unipotent_group; try assumption. rewrite dot_axis by lia. unfold axis, one.
  replace (Nat.eqb d (S d)) with false by (symmetry; apply Nat.eqb_neq; lia). reflexivity.
Qed.
Lemma element_score : forall d s t q k,
  dot (S (S d)) (act (S (S d)) (element d s) (extended d q 1 0)) (act (S (S d)) (transpose (element d t)) (extended d k
    0 1))
  = dot d q k + (s + t).
Proof.
  intros. unfold element. rewrite unipotent_score, !dot_axis by
    (try lia; rewrite dot_axis by lia; unfold axis, one; replace (Nat.eqb d (S d)) with false by (symmetry;
      apply Nat.eqb_neq; lia); reflexivity).
  assert (E : dot (S (S d)) (extended d q 1 0) (extended d k 0 1) = dot d q k).
  { unfold dot. simpl. unfold extended at 3 4 5 6. rewrite Nat.ltb_irrefl, Nat.eqb_refl.
    replace (Nat.ltb (S d) d) with false by (symmetry; apply Nat.ltb_ge; lia).
    replace (Nat.eqb (S d) d) with false by (symmetry; apply Nat.eqb_neq; lia).
    rewrite (sum_ext d _ (fun n => q n * k n)); [ring|]. intros n Hn. unfold extended.
    replace (Nat.ltb n d) with true by (symmetry; apply Nat.ltb_lt; exact Hn). reflexivity. }
  rewrite E. unfold extended. rewrite Nat.ltb_irrefl, Nat.eqb_refl.
  replace (Nat.ltb (S d) d) with false by (symmetry; apply Nat.ltb_ge; lia).
  replace (Nat.eqb (S d) d) with false by (symmetry; apply Nat.eqb_neq; lia). ring.
Qed.

(* Score of a query moved by s and a key moved by the inverse transpose of the element at t. *)
Lemma element_inverse_score : forall d s t q k inverse,
  (forall r c, (r < S (S d))%nat -> (c < S (S d))%nat -> mul (S (S d)) (element d t) inverse r c = one r c) ->
  dot (S (S d)) (act (S (S d)) (element d s) (extended d q 1 0)) (act (S (S d)) (transpose inverse) (extended d k 0 1))
  = dot d q k + (s - t).
Proof.
  intros d s t q k inverse inverts.
  assert (known : forall r c, (r < S (S d))%nat -> (c < S (S d))%nat -> inverse r c = element d (- t) r c).
  { intros r c Hr Hc. transitivity (mul (S (S d)) (element d (- t)) (mul (S (S d)) (element d t) inverse) r c).
    - transitivity (act (S (S d)) (mul (S (S d)) (element d (- t)) (element d t)) (fun k => inverse k c) r).
      + rewrite <- (act_one (S (S d)) (fun k => inverse k c) r Hr). unfold act. apply sum_ext. intros l Hl. f_equal.
        rewrite element_group by assumption. unfold element, unipotent. ring.
      + rewrite act_mul. reflexivity.
    - rewrite (mul_ext _ _ _ one) by (intros; apply inverts; assumption). apply mul_one. exact Hc. }
  transitivity (dot (S (S d)) (act (S (S d)) (element d s) (extended d q 1 0))
    (act (S (S d)) (transpose (element d (- t))) (extended d k 0 1))).
  - apply sum_ext. intros r Hr. f_equal. apply sum_ext. intros c Hc. f_equal. apply known; assumption.
  - rewrite element_score. ring.
Qed.

(* The exponential of a matrix of square 0 is I + x A. *)
Lemma nilpotent_exponential : forall d A x, (forall i j, (i < d)%nat -> (j < d)%nat -> mul d A A i j = 0) ->
  is_exponential d A x (fun i j => one i j + x * A i j).
Proof.
  intros d A x zero i j Hi Hj.
  assert (first : forall r, power d A 1 r j = A r j) by (intros; apply mul_one; exact Hj).
  assert (higher : forall n r, (r < d)%nat -> power d A (S (S n)) r j = 0).
  { induction n as [|n IH]; intros r Hr.
    - change (power d A 2 r j) with (mul d A (power d A 1) r j). rewrite (mul_ext d A _ A) by (intros; apply first).
      apply zero; assumption.
    - change (power d A (S (S (S n))) r j) with (mul d A (power d A (S (S n))) r j). unfold mul at 1.
      rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros k Hk. rewrite IH by exact Hk. ring. }
  assert (partial : forall n, sum_f_R0 (fun n => / INR (fact n) * power d A n i j * x ^ n) (S n) = one i j + x * A i j).
  { induction n as [|n IH].
    - cbn [sum_f_R0]. rewrite first. change (power d A 0 i j) with (one i j). simpl. field.
    - rewrite tech5, IH, higher by exact Hi. ring. }
  intros eps Heps. exists 1%nat. intros n Hn. destruct n as [|n]; [lia|]. rewrite partial.
  unfold R_dist. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. exact Heps.
Qed.
(* E has its one entry in row d + 1, column d: E^2 = 0. *)
Definition extra (d : nat) : matrix := fun i j => axis (S d) i * axis d j.
Lemma extra_square : forall d i j, mul (S (S d)) (extra d) (extra d) i j = 0.
Proof.
  intros. unfold mul, extra. rewrite (sum_ext _ _ (fun _ => 0)); [apply sum_zero|]. intros k _. unfold axis, one.
  destruct (Nat.eqb_spec k d) as [E|E]; [|ring]. replace (Nat.eqb k (S d)) with false by (symmetry; apply Nat.eqb_neq;
    lia).
  ring.
Qed.

(* ALiBi is GRAPE-A: with A = -m E, E^2 = 0, on two coordinates beside the content, G(t) = I + t A is the exponential of
   t A and a group, and with the query moved by G(j) and the key by the inverse transpose of G(i) the score is
   q.k - m (j - i), for every d (claim grape-8). *)
Theorem grape_is_alibi : forall d m, let D := S (S d) in
  let A i j := - m * extra d i j in let G t i j := one i j + t * A i j in
  (forall r c, mul D A A r c = 0)
  /\ (forall t, is_exponential D A t (G t))
  /\ (forall s t r c, (r < D)%nat -> (c < D)%nat -> mul D (G s) (G t) r c = G (s + t) r c)
  /\ forall q k j i inverse, (forall r c, (r < D)%nat -> (c < D)%nat -> mul D (G i) inverse r c = one r c) ->
    dot D (act D (G j) (extended d q 1 0)) (act D (transpose inverse) (extended d k 0 1)) = dot d q k - m * (j - i).
Proof.
  intros d m D A G. unfold D.
  assert (square : forall r c, mul (S (S d)) A A r c = 0).
  { intros. unfold A. rewrite mul_scale. replace (mul (S (S d)) (fun i j => - m * extra d i j) (extra d) r c)
      with (- m * mul (S (S d)) (extra d) (extra d) r c).
    - rewrite extra_square. ring.
    - unfold mul. rewrite <- sum_scale. apply sum_ext. intros. ring. }
  assert (same : forall t r c, G t r c = element d (- m * t) r c)
    by (intros; unfold G, A, element, unipotent, extra; ring).
  assert (group : forall s t r c, (r < S (S d))%nat -> (c < S (S d))%nat -> mul (S (S d)) (G s) (G t) r c = G (s + t) r
    c).
  { intros s t r c Hr Hc. rewrite same. replace (- m * (s + t)) with (- m * s + - m * t) by ring.
    rewrite <- element_group by assumption. apply sum_ext. intros. rewrite !same. reflexivity. }
  split; [exact square|]. split; [intros; apply nilpotent_exponential; intros; apply square|]. split; [exact group|].
  intros q k j i inverse inverts.
  replace (dot d q k - m * (j - i)) with (dot d q k + (- m * j - - m * i)) by ring.
  rewrite <- (element_inverse_score d (- m * j) (- m * i) q k inverse).
  - apply sum_ext. intros r Hr. f_equal. apply sum_ext. intros c Hc. rewrite same. reflexivity.
  - intros r c Hr Hc. rewrite <- (inverts r c Hr Hc). apply sum_ext. intros. rewrite same. reflexivity.
Qed.
Lemma grape_is_alibi_twin : ~ (forall d m, let D := S (S d) in
  let A i j := - m * extra d i j in let G t i j := one i j + t * A i j in
  (forall r c, mul D A A r c = 0)
  /\ (forall t, is_exponential D A t (G t))
  /\ (forall s t r c, (r < D)%nat -> (c < D)%nat -> mul D (G s) (G t) r c = G (s + t) r c)
  /\ forall q k j i inverse, (forall r c, (r < D)%nat -> (c < D)%nat -> mul D (G i) inverse r c = one r c) ->
    dot D (act D (G j) (extended d q 1 0)) (act D inverse (extended d k 0 1)) = dot d q k - m * (j - i)).
Proof.
  intros H. destruct (H 0%nat 1) as [_ [_ [_ false]]].
  set (inverse := fun i j => one i j + extra 0 i j).
  assert (inverts : forall r c, (r < 2)%nat -> (c < 2)%nat ->
    mul 2 (fun i j => one i j + 1 * (- (1) * extra 0 i j)) inverse r c = one r c)
    by (intros [|[|r]] [|[|c]] Hr Hc; try lia; unfold inverse, mul, extra, axis, one; simpl; ring).
  specialize (false (fun _ => 0) (fun _ => 0) 0 1 inverse inverts).
  unfold inverse, dot, act, extended, extra, axis, one in false. simpl in false. lra.
Qed.

(* FoX is GRAPE-A: the links I - psi_l E of a path, psi_l = log f_l, multiply to I - (sum of psi_l) E, and with the key
   moved by the inverse transpose of the path the score is q.k plus the sum of log f_l over the path, for every d and
   every path (claim grape-10). *)
Fixpoint path (d : nat) (psi : nat -> R) (n : nat) : matrix :=
  match n with O => one | S l => mul (S (S d)) (fun i j => one i j - psi l * extra d i j) (path d psi l) end.
Theorem grape_is_fox : forall d (f : nat -> R) n, let D := S (S d) in let psi l := ln (f l) in
  (forall r c, (r < D)%nat -> (c < D)%nat -> path d psi n r c = one r c - sum n psi * extra d r c)
  /\ forall q k inverse, (forall r c, (r < D)%nat -> (c < D)%nat -> mul D (path d psi n) inverse r c = one r c) ->
    dot D (extended d q 1 0) (act D (transpose inverse) (extended d k 0 1)) = dot d q k + sum n (fun l => ln (f l)).
Proof.
  intros d f n D psi. unfold D.
  assert (same : forall t r c, one r c - t * extra d r c = element d (- t) r c)
    by (intros; unfold element, unipotent, extra; ring).
  assert (collapsed : forall n r c, (r < S (S d))%nat -> (c < S (S d))%nat ->
    path d psi n r c = one r c - sum n psi * extra d r c).
  { clear n. induction n as [|n IH]; intros r c Hr Hc; [simpl; ring|]. simpl path. rewrite same.
    replace (- sum (S n) psi) with (- psi n + - sum n psi) by (simpl; ring). rewrite <- element_group by assumption.
    apply sum_ext. intros k Hk. rewrite IH, !same by assumption. reflexivity. }
  split; [intros; apply collapsed; assumption|]. intros q k inverse inverts.
  replace (sum n (fun l => ln (f l))) with (0 - - sum n psi) by (unfold psi; ring).
  rewrite <- (element_inverse_score d 0 (- sum n psi) q k inverse).
  - apply sum_ext. intros r Hr. f_equal. rewrite <- (act_one (S (S d)) (extended d q 1 0) r Hr) at 1.
    apply sum_ext. intros. unfold element, unipotent. ring.
  - intros r c Hr Hc. rewrite <- (inverts r c Hr Hc). apply sum_ext. intros k0 Hk.
    rewrite collapsed, same by assumption. reflexivity.
Qed.
Lemma grape_is_fox_twin : ~ (forall d (f : nat -> R) n, let D := S (S d) in let psi l := - ln (f l) in
  (forall r c, (r < D)%nat -> (c < D)%nat -> path d psi n r c = one r c - sum n psi * extra d r c)
  /\ forall q k inverse, (forall r c, (r < D)%nat -> (c < D)%nat -> mul D (path d psi n) inverse r c = one r c) ->
    dot D (extended d q 1 0) (act D (transpose inverse) (extended d k 0 1)) = dot d q k + sum n (fun l => ln (f l))).
Proof.
  intros H. destruct (H 0%nat (fun _ => exp (- (1))) 1%nat) as [_ printed].
  destruct (grape_is_fox 0 (fun _ => exp 1) 1) as [_ ours].
  set (inverse := fun i j => one i j + extra 0 i j).
  assert (inverts : forall psi : nat -> R, psi 0%nat = 1 -> forall r c, (r < 2)%nat -> (c < 2)%nat ->
    mul 2 (path 0 psi 1) inverse r c = one r c).
  { intros psi unit [|[|r]] [|[|c]] Hr Hc; try lia; unfold inverse, path, mul, extra, axis, one; simpl; rewrite unit;
    ring. }
  assert (minus : - ln (exp (- (1))) = 1) by (rewrite ln_exp; ring).
  specialize (printed (fun _ => 0) (fun _ => 0) inverse (inverts (fun _ => - ln (exp (- (1)))) minus)).
  specialize (ours (fun _ => 0) (fun _ => 0) inverse (inverts (fun _ => ln (exp 1)) (ln_exp 1))).
  rewrite printed in ours. cbn [sum] in ours. rewrite !ln_exp in ours. lra.
Qed.
