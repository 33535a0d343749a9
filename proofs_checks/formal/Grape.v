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

(* L^3 = -s^2 L in every dimension (part of claim grape-1).
   False twin: "- squared_speed d a b * generator a b i j" becomes "squared_speed d a b * generator a b i j". *)
Theorem grape_cube : forall d a b i j,
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
    replace (Rsqr (x * s) ^ n) with ((s * s) ^ n * (x ^ 2) ^ n) by (unfold Rsqr; rewrite <- Rpow_mult_distr; f_equal; ring).
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

(* RoPE in one plane is the case a = w e2, b = e1 of GRAPE: the exponential is the rotation by x w (part of claim grape-5).
   False twin: "then - sin (x * w)" becomes "then sin (x * w)". *)
Theorem grape_is_rope : forall w x, w <> 0 ->
  is_exponential 2 (generator (fun k => match k with 1%nat => w | _ => 0 end)
                              (fun k => match k with O => 1 | _ => 0 end)) x
    (fun i j => if Nat.eqb i j then cos (x * w) else if Nat.eqb i 0 then - sin (x * w) else sin (x * w)).
Proof.
  intros w x Hw i j Hi Hj.
  set (a := fun k : nat => match k with 1%nat => w | _ => 0 end).
  set (b := fun k : nat => match k with O => 1 | _ => 0 end).
  assert (speed : w * w = squared_speed 2 a b) by (unfold squared_speed, dot, a, b; simpl; ring).
  pose proof (grape_exponential 2 a b w x Hw speed i j Hi Hj) as H.
  replace (if Nat.eqb i j then cos (x * w) else if Nat.eqb i 0 then - sin (x * w) else sin (x * w)) with
    (one i j + sin (x * w) / w * generator a b i j
      + (1 - cos (x * w)) / (w * w) * mul 2 (generator a b) (generator a b) i j); [exact H|].
  destruct i as [|[|i]]; [| |lia]; destruct j as [|[|j]]; try lia; unfold one, mul, generator, a, b; simpl; field; exact Hw.
Qed.

(* Unipotent one-parameter group: if v.u = 0, the matrices I + t u v^T have G(s) G(t) = G(s + t) (part of claim grape-8).
   False twin: "(s + t)" becomes "(s * t)". *)
Definition unipotent (u v : vector) (t : R) : matrix := fun i j => one i j + t * (u i * v j).
Theorem unipotent_group : forall d u v s t i j, dot d v u = 0 -> (i < d)%nat -> (j < d)%nat ->
  mul d (unipotent u v s) (unipotent u v t) i j = unipotent u v (s + t) i j.
Proof.
  intros d u v s t i j orthogonal Hi Hj. unfold mul, unipotent.
  rewrite (sum_ext _ _ (fun k => 1 * (one i k * one k j + t * v j * (u k * one k i)) + s * u i * (v k * one k j + t * v j * (v k * u k)))).
  2: { intros k Hk. replace (one k i) with (one i k); [ring|]. unfold one. rewrite Nat.eqb_sym. reflexivity. }
  rewrite sum_linear.
  rewrite (sum_ext _ _ (fun k => 1 * (one i k * one k j) + t * v j * (u k * one k i))) by (intros; ring).
  rewrite sum_linear, sum_one by assumption. rewrite (sum_one d u i Hi).
  rewrite (sum_ext _ (fun k => v k * one k j + _) (fun k => 1 * (v k * one k j) + t * v j * (v k * u k))) by (intros; ring).
  rewrite sum_linear, (sum_one d v j Hj). unfold dot in orthogonal. rewrite orthogonal. ring.
Qed.

(* A path of links I - psi E is the element of the sum of all psi: FoX, whose psi are -log f (part of claim grape-10).
   False twin: "(- sum n psi)" becomes "(sum n psi)". *)
Fixpoint path (d : nat) (u v : vector) (psi : nat -> R) (n : nat) : matrix :=
  match n with O => one | S l => mul d (unipotent u v (- psi l)) (path d u v psi l) end.
Theorem fox_path : forall d u v psi n i j, dot d v u = 0 -> (i < d)%nat -> (j < d)%nat ->
  path d u v psi n i j = unipotent u v (- sum n psi) i j.
Proof.
  intros d u v psi n i j orthogonal Hi Hj. revert i Hi. induction n as [|n IH]; intros i Hi.
  - unfold unipotent. simpl. ring.
  - simpl path. rewrite (mul_ext d _ _ (unipotent u v (- sum n psi))) by (intros; apply IH; assumption).
    rewrite unipotent_group by assumption. simpl. f_equal. ring.
Qed.

(* Queries (q, 1, 0) and keys (k, 0, 1) in d + 2 coordinates. *)
Definition extended (d : nat) (q : vector) (x y : R) : vector := fun n =>
  if Nat.ltb n d then q n else if Nat.eqb n d then x else y.
Definition axis (n : nat) : vector := fun k => one k n.

(* ALiBi: the unipotent element of the distance adds -m (j - i) to the score q.k, for every d (claim grape-8).
   False twin: "dot d q k - m" becomes "dot d q k + m". *)
Theorem alibi_by_unipotent : forall d q k m j i,
  dot (S (S d)) (extended d q 1 0)
      (fun r => dot (S (S d)) (unipotent (axis d) (axis (S d)) (- m * (j - i)) r) (extended d k 0 1))
  = dot d q k - m * (j - i).
Proof.
  intros. set (t := - m * (j - i)).
  assert (row : forall r, (r < S (S d))%nat ->
    dot (S (S d)) (unipotent (axis d) (axis (S d)) t r) (extended d k 0 1) = extended d k 0 1 r + t * one r d).
  { intros r Hr. unfold dot, unipotent, axis.
    rewrite (sum_ext _ _ (fun c => 1 * (extended d k 0 1 c * one c r) + t * one r d * (extended d k 0 1 c * one c (S d)))).
    2: { intros c _. replace (one c r) with (one r c); [ring|]. unfold one. rewrite Nat.eqb_sym. reflexivity. }
    rewrite sum_linear, !sum_one by lia. unfold extended at 2.
    replace (Nat.ltb (S d) d) with false by (symmetry; apply Nat.ltb_ge; lia).
    replace (Nat.eqb (S d) d) with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
  unfold dot at 1. rewrite (sum_ext _ _ (fun r => extended d q 1 0 r * (extended d k 0 1 r + t * one r d)))
    by (intros; rewrite row by assumption; reflexivity).
  simpl sum. unfold dot. rewrite (sum_ext d _ (fun r => q r * k r)).
  2: { intros r Hr. unfold extended, one. replace (Nat.ltb r d) with true by (symmetry; apply Nat.ltb_lt; exact Hr).
       replace (Nat.eqb r d) with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
  unfold extended, one. rewrite !Nat.ltb_irrefl, !Nat.eqb_refl.
  replace (Nat.ltb (S d) d) with false by (symmetry; apply Nat.ltb_ge; lia).
  replace (Nat.eqb (S d) d) with false by (symmetry; apply Nat.eqb_neq; lia). unfold t. ring.
Qed.
