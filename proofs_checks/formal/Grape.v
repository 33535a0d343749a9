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

(* L^3 = -s^2 L in every dimension (claim grape-1).
   False twin: "- squared_speed d a b * generator a b i j" becomes "squared_speed d a b * generator a b i j". *)
Theorem grape_cube : forall d a b i j,
  mul d (generator a b) (mul d (generator a b) (generator a b)) i j = - squared_speed d a b * generator a b i j.
Proof.
  intros. rewrite generator_times.
  assert (H : forall v, dot d v (fun k => mul d (generator a b) (generator a b) k j)
    = (b j * dot d a b - a j * dot d b b) * dot d v a + - (b j * dot d a a - a j * dot d a b) * dot d v b).
  { intros. unfold dot at 1 6 9. rewrite <- sum_linear. apply sum_ext. intros. rewrite square. ring. }
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
  - split; [simpl; rewrite first by assumption; ring|].
    change (power d L (2 * 0 + 2) i j) with (mul d L (power d L 1) i j).
    rewrite (mul_ext d L _ L) by (intros; apply first). simpl. ring.
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

(* The exponential of a rank-2 generator of speed s is I + sin(x s)/s L + (1 - cos(x s))/s^2 L^2 (claim grape-1).
   False twin: "(1 - cos (x * s))" becomes "(1 + cos (x * s))". *)
Theorem grape_exponential : forall d a b s x, s <> 0 -> s * s = squared_speed d a b ->
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
    unfold sin_n, Rsqr. rewrite <- !pow_mult, !Rpow_mult_distr. unfold scal, mult. simpl.
    rewrite <- !pow_mult. field. apply INR_fact_neq_0. }
  assert (cosine : is_pseries (fun n => c (2 * n)%nat) (x ^ 2)
    (one i j + (1 - cos (x * s)) / (s * s) * mul d L L i j)).
  { unfold cos. destruct (exist_cos (Rsqr (x * s))) as [u Hu].
    apply is_pseries_R. apply is_series_Reals in Hu.
    apply is_series_decr_1. apply is_series_decr_1 in Hu || apply is_series_incr_1 in Hu. admit. }
  admit.
Admitted.
