(* Two-sided ALiBi: the matrix of distances has full rank, and the causal form has rank 2. *)

Require Import Reals Lra Lia.
Open Scope R_scope.

Fixpoint sum (T : nat) (f : nat -> R) : R := match T with O => 0 | S k => sum k f + f k end.
Definition delta (i j : nat) : R := if Nat.eqb i j then 1 else 0.
Definition distance (i j : nat) : R := Rabs (INR i - INR j).

Lemma sum_ext : forall T f g, (forall k, (k < T)%nat -> f k = g k) -> sum T f = sum T g.
Proof. induction T; intros; simpl; [reflexivity|]. rewrite (IHT f g), (H T); auto. Qed.
Lemma sum_zero : forall T, sum T (fun _ => 0) = 0.
Proof. induction T; simpl; [reflexivity|]. rewrite IHT. ring. Qed.
Lemma sum_plus : forall T f g, sum T (fun k => f k + g k) = sum T f + sum T g.
Proof. induction T; intros; simpl; [ring|]. rewrite IHT. ring. Qed.
Lemma sum_delta : forall T (f : nat -> R) i, (i < T)%nat -> sum T (fun k => f k * delta i k) = f i.
Proof.
  induction T; intros f i H; [lia|]. simpl. unfold delta at 2. destruct (Nat.eqb_spec i T) as [E|E].
  - subst. rewrite (sum_ext _ _ (fun _ => 0)), sum_zero; [ring|].
    intros k Hk. unfold delta. destruct (Nat.eqb_spec T k); [lia|ring].
  - rewrite IHT by lia. ring.
Qed.

(* The second difference of the distance is 2 at 0, and 0 elsewhere. *)
Lemma second_difference : forall i j, distance i j + distance (S (S i)) j - 2 * distance (S i) j = 2 * delta (S i) j.
Proof.
  intros. unfold distance, delta. rewrite !S_INR. destruct (Nat.eqb_spec (S i) j) as [E|E].
  - subst. rewrite S_INR. unfold Rabs. repeat destruct Rcase_abs; lra.
  - destruct (le_lt_dec j i) as [H|H].
    + apply le_INR in H. unfold Rabs. repeat destruct Rcase_abs; lra.
    + assert (K : (S (S i) <= j)%nat) by lia. apply le_INR in K. rewrite !S_INR in K.
      unfold Rabs. repeat destruct Rcase_abs; lra.
Qed.

(* The matrix of distances of T >= 2 positions has rank T: it takes no vector but 0 to 0 (part of claim alibi-7). *)
Theorem distances_have_full_rank : forall T v, (2 <= T)%nat ->
  (forall i, (i < T)%nat -> sum T (fun j => v j * distance i j) = 0) -> forall j, (j < T)%nat -> v j = 0.
Proof.
  intros T v HT zero.
  assert (inner : forall i, (S (S i) < T)%nat -> v (S i) = 0).
  { intros i Hi. assert (H : sum T (fun j => v j * 2 * delta (S i) j) = 0).
    { rewrite (sum_ext T _ (fun j => v j * distance i j + (v j * distance (S (S i)) j + (-2) * (v j * distance (S i)
      j)))).
      2: { intros k _. replace (v k * 2 * delta (S i) k) with (v k * (2 * delta (S i) k)) by ring.
           rewrite <- second_difference. ring. }
      rewrite sum_plus, zero by lia. rewrite sum_plus, zero by lia.
      rewrite (sum_ext T _ (fun j => (-1) * (v j * distance (S i) j) + (-1) * (v j * distance (S i) j))) by (intros;
        ring).
      assert (scaled : forall c n, sum n (fun j => c * (v j * distance (S i) j)) = c * sum n (fun j => v j * distance (S
        i) j)).
      { intros c n. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. }
      rewrite sum_plus, !scaled, zero by lia. ring. }
    rewrite (sum_delta T (fun j => v j * 2)) in H by lia. lra. }
  destruct T as [|[|T]]; [lia|lia|].
  assert (ends : forall i e, (i = O /\ e = S T) \/ (i = S T /\ e = O) -> v e = 0).
  { intros i e He. pose proof (zero i ltac:(lia)) as H.
    rewrite (sum_ext _ _ (fun k => (v k * distance i k) * delta e k)) in H.
    2: { intros k Hk. unfold delta. destruct (Nat.eqb_spec e k) as [E|E]; [subst; ring|].
         destruct (Nat.eq_dec k i) as [F|F].
         - subst. unfold distance. rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. ring.
         - destruct k as [|k]; [destruct He as [[? ?]|[? ?]]; subst; contradiction|].
           rewrite (inner k); [ring|]. destruct He as [[? ?]|[? ?]]; subst; lia. }
    rewrite sum_delta in H by lia. apply Rmult_integral in H. destruct H as [H|H]; [exact H|exfalso].
    unfold distance in H. pose proof (pos_INR T).
    destruct He as [[? ?]|[? ?]]; subst; rewrite S_INR in H; simpl INR in H; revert H; unfold Rabs; destruct Rcase_abs;
      lra. }
  intros j Hj. destruct j as [|j]; [apply (ends (S T)); right; split; reflexivity|].
  destruct (Nat.eq_dec j T) as [E|E]; [subst; apply (ends O); left; split; reflexivity|]. apply inner. lia.
Qed.
Lemma distances_have_full_rank_twin : ~ (forall T v, (1 <= T)%nat ->
  (forall i, (i < T)%nat -> sum T (fun j => v j * distance i j) = 0) -> forall j, (j < T)%nat -> v j = 0).
Proof.
  intros H. assert (1 = 0); [|lra].
  apply (H 1%nat (fun _ => 1) (Nat.le_refl 1)) with (j := 0%nat); [|apply Nat.lt_0_1].
  intros i Hi. replace i with 0%nat by lia. unfold distance. simpl. rewrite Rminus_0_r, Rabs_R0. ring.
Qed.

(* Causal ALiBi is a scalar product of two features of each token, (-m j, 1) and (1, m i) (part of claim alibi-7). *)
Theorem causal_form_has_rank_2 : forall m i j, (i <= j)%nat ->
  - m * distance j i = (- m * INR j) * 1 + 1 * (m * INR i).
Proof.
  intros m i j H. unfold distance. apply le_INR in H. rewrite Rabs_pos_eq by lra. ring.
Qed.
Lemma causal_form_has_rank_2_twin : ~ (forall m i j, (i <= j)%nat ->
  - m * distance j i = (- m * INR j) * 1 - 1 * (m * INR i)).
Proof.
  intros H. specialize (H 1 1%nat 1%nat (Nat.le_refl 1)). unfold distance in H. simpl in H.
  rewrite Rminus_diag_eq, Rabs_R0 in H by reflexivity. lra.
Qed.
