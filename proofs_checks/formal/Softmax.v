(* Rows of attention: softmax over any number of keys, ALiBi, FoX, and priors on keys. *)

Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Fixpoint sum (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => sum k f + f k end.
Fixpoint prod (n : nat) (f : nat -> R) : R := match n with O => 1 | S k => prod k f * f k end.
(* Weight of key i in a row of n keys with these logits; what attention puts out for values. *)
Definition weight (n : nat) (logit : nat -> R) (i : nat) : R := exp (logit i) / sum n (fun k => exp (logit k)).
Definition output (n : nat) (logit value : nat -> R) : R := sum n (fun i => weight n logit i * value i).

Lemma sum_ext : forall n f g, (forall k, (k < n)%nat -> f k = g k) -> sum n f = sum n g.
Proof. induction n; intros; simpl; [reflexivity|]. rewrite (IHn f g), (H n); auto. Qed.
Lemma sum_scale : forall n x f, sum n (fun k => x * f k) = x * sum n f.
Proof. induction n; intros; simpl; [ring|]. rewrite IHn. ring. Qed.
Lemma sum_positive : forall n f, (0 < n)%nat -> (forall k, (k < n)%nat -> 0 < f k) -> 0 < sum n f.
Proof.
  intros n f Hn each. destruct n as [|n]; [lia|]. clear Hn. induction n as [|n IH]; simpl.
  - pose proof (each O ltac:(lia)). lra.
  - pose proof (IH ltac:(intros; apply each; lia)). pose proof (each (S n) ltac:(lia)). simpl in *. lra.
Qed.
(* Scores that all keys share a factor of. *)
Lemma share : forall n c f i, 0 < c -> (i < n)%nat -> (forall k, (k < n)%nat -> 0 < f k) ->
  c * f i / sum n (fun k => c * f k) = f i / sum n f.
Proof.
  intros n c f i Hc Hi each. rewrite sum_scale. pose proof (sum_positive n f ltac:(lia) each). field. split; lra.
Qed.
Lemma weight_ext : forall n l m i, (i < n)%nat -> (forall k, (k < n)%nat -> l k = m k) -> weight n l i = weight n m i.
Proof.
  intros n l m i Hi same. unfold weight. rewrite same by exact Hi.
  rewrite (sum_ext n _ (fun k => exp (m k))); [reflexivity|]. intros. rewrite same by assumption. reflexivity.
Qed.
Lemma constant_of_a_row : forall n l c i, (i < n)%nat -> weight n (fun k => c + l k) i = weight n l i.
Proof.
  intros n l c i Hi. unfold weight. rewrite <- (share n (exp c) (fun k => exp (l k)) i);
    [|apply exp_pos|exact Hi|intros; apply exp_pos].
  rewrite exp_plus, (sum_ext n _ (fun k => exp c * exp (l k))); [reflexivity|]. intros. apply exp_plus.
Qed.

(* Under softmax the bias m i of the key alone gives the weights of -m (j - i) (claim alibi-2). *)
Theorem alibi_of_the_key_alone : forall n m (content : nat -> R) j i, (i < n)%nat ->
  weight n (fun k => content k + m * INR k) i = weight n (fun k => content k - m * (j - INR k)) i.
Proof.
  intros n m content j i Hi. rewrite <- (constant_of_a_row n _ (- (m * j)) i Hi).
  apply weight_ext; [exact Hi|]. intros. ring.
Qed.
Lemma alibi_of_the_key_alone_twin : ~ (forall n m (content : nat -> R) j i, (i < n)%nat ->
  weight n (fun k => content k - m * INR k) i = weight n (fun k => content k - m * (j - INR k)) i).
Proof.
  intros H. specialize (H 2%nat 1 (fun _ => 0) 1 1%nat ltac:(lia)). unfold weight in H. simpl in H.
  replace (0 - 1 * 1) with (- (1)) in H by ring. replace (0 - 1 * 0) with 0 in H by ring.
  replace (0 - 1 * (1 - 0)) with (- (1)) in H by ring. replace (0 - 1 * (1 - 1)) with 0 in H by ring.
  pose proof (exp_increasing (- (1)) 0 ltac:(lra)). rewrite exp_0 in *. pose proof (exp_pos (- (1))).
  set (e := exp (- (1))) in *. apply (f_equal (fun x => x * (1 + e))) in H.
  replace (e / (0 + 1 + e) * (1 + e)) with e in H by (field; lra).
  replace (1 / (0 + e + 1) * (1 + e)) with 1 in H by (field; lra). lra.
Qed.

(* ALiBi's bias on both sides of the query is a function of j - i alone, and a common shift of all positions changes no
   logit, weight or output (claim alibi-3). *)
Definition alibi (m j i : R) : R := - m * Rabs (j - i).
Theorem alibi_ignores_shifts : forall m, (exists bias : R -> R, forall j i, alibi m j i = bias (j - i))
  /\ forall n (content value position : nat -> R) j s,
    (forall i, content i + alibi m (j + s) (position i + s) = content i + alibi m j (position i))
    /\ (forall i, (i < n)%nat -> weight n (fun k => content k + alibi m (j + s) (position k + s)) i
      = weight n (fun k => content k + alibi m j (position k)) i)
    /\ output n (fun k => content k + alibi m (j + s) (position k + s)) value
      = output n (fun k => content k + alibi m j (position k)) value.
Proof.
  intros m. split; [exists (fun D => - m * Rabs D); reflexivity|]. intros n content value position j s.
  assert (same : forall i, content i + alibi m (j + s) (position i + s) = content i + alibi m j (position i)).
  { intros. unfold alibi. replace (j + s - (position i + s)) with (j - position i) by ring. reflexivity. }
  split; [exact same|]. split.
  - intros. apply weight_ext; [assumption|]. intros. apply same.
  - apply sum_ext. intros k Hk. f_equal. apply weight_ext; [exact Hk|]. intros. apply same.
Qed.
Lemma alibi_ignores_shifts_twin : ~ (forall m, (exists bias : R -> R, forall j i, alibi m j i = bias (j - i))
  /\ forall n (content value position : nat -> R) j s,
    (forall i, content i + alibi m (j + s) (position i) = content i + alibi m j (position i))
    /\ (forall i, (i < n)%nat -> weight n (fun k => content k + alibi m (j + s) (position k + s)) i
      = weight n (fun k => content k + alibi m j (position k)) i)
    /\ output n (fun k => content k + alibi m (j + s) (position k + s)) value
      = output n (fun k => content k + alibi m j (position k)) value).
Proof.
  intros H. destruct (H 1) as [_ false]. destruct (false O (fun _ => 0) (fun _ => 0) (fun _ => 0) 0 1) as [shifted _].
  specialize (shifted O). unfold alibi in shifted. replace (0 + 1 - 0) with 1 in shifted by ring.
  rewrite Rminus_0_r, Rabs_R0, Rabs_R1 in shifted. lra.
Qed.

(* Sum of the log forget gates, and product of the gates, of the tokens after key i, up to a query j = i + D. *)
Definition bias (f : nat -> R) (i D : nat) : R := sum D (fun l => ln (f (S (i + l)))).
Definition kept (f : nat -> R) (i D : nat) : R := prod D (fun l => f (S (i + l))).
Lemma exp_bias : forall f i D, (forall l, 0 < f l) -> exp (bias f i D) = kept f i D.
Proof.
  intros f i D gates. unfold bias, kept. induction D as [|D IH]; simpl; [apply exp_0|].
  rewrite exp_plus, IH, exp_ln by apply gates. reflexivity.
Qed.

(* FoX: if the bias of a key is the sum of log forget gates after it, up to the query, then attention is weighted by the
   product of these gates: exp(D) is F, and softmax(S + D) is F exp(S), normalised (claim fox-1). *)
Theorem fox_weighs_by_products_of_gates : forall f (content : nat -> R) j i, (forall l, 0 < f l) -> (i <= j)%nat ->
  exp (bias f i (j - i)) = kept f i (j - i)
  /\ weight (S j) (fun k => content k + bias f k (j - k)) i
  = kept f i (j - i) * exp (content i) / sum (S j) (fun k => kept f k (j - k) * exp (content k)).
Proof.
  intros f content j i gates Hi. split; [apply exp_bias; exact gates|]. unfold weight.
  rewrite exp_plus, exp_bias by exact gates.
  rewrite (sum_ext _ _ (fun k => kept f k (j - k) * exp (content k))).
  - f_equal. ring.
  - intros. rewrite exp_plus, exp_bias by exact gates. ring.
Qed.
Lemma fox_weighs_by_products_of_gates_twin :
  ~ (forall f (content : nat -> R) j i, (forall l, 0 < f l) -> (i <= j)%nat ->
  exp (bias f i (j - i)) = kept f i (j - i)
  /\ weight (S j) (fun k => content k - bias f k (j - k)) i
  = kept f i (j - i) * exp (content i) / sum (S j) (fun k => kept f k (j - k) * exp (content k))).
Proof.
  intros H. destruct (H (fun _ => 2) (fun _ => 0) 1%nat 0%nat ltac:(intros; lra) ltac:(lia)) as [_ E].
  unfold weight, bias, kept in E. simpl in E. rewrite !Rminus_0_r, !Rplus_0_l in E.
  replace (0 - ln 2) with (- ln 2) in E by ring. rewrite exp_Ropp, exp_ln, exp_0 in E by lra.
  field_simplify in E. lra.
Qed.

(* With the gate e^-m at all tokens the bias is ALiBi's of slope m (claim fox-2). *)
Theorem fox_of_equal_gates_is_alibi : forall m i j, (i <= j)%nat ->
  bias (fun _ => exp (- m)) i (j - i) = - m * (INR j - INR i).
Proof.
  intros m i j H. rewrite <- minus_INR by exact H. unfold bias. generalize (j - i)%nat. intros D. clear H.
  induction D as [|D IH]; [simpl; ring|]. rewrite S_INR. simpl. rewrite IH, ln_exp. ring.
Qed.
Lemma fox_of_equal_gates_is_alibi_twin : ~ (forall m i j, (i <= j)%nat ->
  bias (fun _ => exp (- m)) i (j - i) = m * (INR j - INR i)).
Proof.
  intros H. specialize (H 1 0%nat 1%nat ltac:(lia)). rewrite fox_of_equal_gates_is_alibi in H by lia. simpl in H. lra.
Qed.

(* The biases of FoX add up along a path, D_ij = D_il + D_lj; for gates at most 1 the bias is 0 at the query itself,
   never
   positive, no smaller for a later key, and no larger for a later query (claim fox-5). *)
Theorem fox_adds_along_paths : forall f, (forall l, 0 < f l <= 1) ->
  (forall i D E, bias f i (D + E) = bias f i D + bias f (i + D) E)
  /\ (forall i, bias f i 0 = 0) /\ (forall i D, bias f i D <= 0)
  /\ (forall i D, bias f i (S D) <= bias f (S i) D) /\ (forall i D, bias f i (S D) <= bias f i D).
Proof.
  intros f gates.
  assert (adds : forall i D E, bias f i (D + E) = bias f i D + bias f (i + D) E).
  { intros i D E. unfold bias. induction E as [|E IH]; [rewrite Nat.add_0_r; simpl; ring|].
    rewrite Nat.add_succ_r. simpl. rewrite IH, Nat.add_assoc. ring. }
  assert (falls : forall l, ln (f l) <= 0).
  { intros l. destruct (gates l) as [positive [below|same]].
    - left. rewrite <- ln_1. apply ln_increasing; assumption.
    - right. rewrite same. apply ln_1. }
  split; [exact adds|]. split; [reflexivity|]. split; [|split].
  - intros i D. induction D as [|D IH]; unfold bias in *; simpl; [lra|]. pose proof (falls (S (i + D))). lra.
  - intros i D. rewrite (adds i 1%nat D : bias f i (S D) = _). unfold bias at 1. simpl.
    rewrite Nat.add_0_r, Nat.add_1_r.
    pose proof (falls (S i)). lra.
  - intros i D. unfold bias. simpl. pose proof (falls (S (i + D))). lra.
Qed.
Lemma fox_adds_along_paths_twin : ~ (forall f, (forall l, 0 < f l <= 1) ->
  (forall i D E, bias f i (D + E) = bias f i D + bias f i E)
  /\ (forall i, bias f i 0 = 0) /\ (forall i D, bias f i D <= 0)
  /\ (forall i D, bias f i (S D) <= bias f (S i) D) /\ (forall i D, bias f i (S D) <= bias f i D)).
Proof.
  intros H. destruct (H (fun l => match l with 1%nat => 1 | _ => exp (- (1)) end)) as [adds _].
  - intros l. pose proof (exp_pos (- (1))). pose proof (exp_increasing (- (1)) 0 ltac:(lra)). rewrite exp_0 in *.
    destruct l as [|[|l]]; lra.
  - specialize (adds 0%nat 1%nat 1%nat). unfold bias in adds. simpl in adds. rewrite ln_exp, ln_1 in adds. lra.
Qed.

(* Softmax of the content score, a log likelihood, plus the log prior is the posterior of the keys; a factor that all
   priors of a row share, or all likelihoods, changes no weight (claim bam-1). *)
Theorem softmax_is_a_posterior : forall n (score prior : nat -> R) i, (i < n)%nat -> (forall k, 0 < prior k) ->
  weight n (fun k => score k + ln (prior k)) i = exp (score i) * prior i / sum n (fun k => exp (score k) * prior k)
  /\ forall f h, 0 < f -> 0 < h ->
    weight n (fun k => ln (h * exp (score k)) + ln (f * prior k)) i = weight n (fun k => score k + ln (prior k)) i.
Proof.
  intros n score prior i Hi priors. split.
  - unfold weight. rewrite exp_plus, exp_ln by apply priors.
    rewrite (sum_ext n _ (fun k => exp (score k) * prior k)); [reflexivity|].
    intros. rewrite exp_plus, exp_ln by apply priors. reflexivity.
  - intros f h Hf Hh. rewrite <- (constant_of_a_row n (fun k => score k + ln (prior k)) (ln h + ln f) i Hi).
    apply weight_ext; [exact Hi|]. intros. rewrite !ln_mult by (apply exp_pos || apply priors || assumption).
    rewrite ln_exp. ring.
Qed.
Lemma softmax_is_a_posterior_twin : ~ (forall n (score prior : nat -> R) i, (i < n)%nat -> (forall k, 0 < prior k) ->
  weight n (fun k => score k + ln (prior k)) i = exp (score i) / sum n (fun k => exp (score k) * prior k)
  /\ forall f h, 0 < f -> 0 < h ->
    weight n (fun k => ln (h * exp (score k)) + ln (f * prior k)) i = weight n (fun k => score k + ln (prior k)) i).
Proof.
  intros H. destruct (H 1%nat (fun _ => 0) (fun _ => 2) 0%nat ltac:(lia) ltac:(intros; lra)) as [false _].
  destruct (softmax_is_a_posterior 1 (fun _ => 0) (fun _ => 2) 0%nat ltac:(lia) ltac:(intros; lra)) as [true _].
  rewrite true in false. simpl in false. rewrite exp_0 in false. field_simplify in false. lra.
Qed.

(* Under the sigmoid the weight of a key is a function of its own logit; under softmax it falls with the logit of every
   other key, with the derivative -p_i p_o (claim swat-3). *)
Definition sigmoid (logit : nat -> R) (i : nat) : R := / (1 + exp (- logit i)).
Definition put (l : nat -> R) (o : nat) (x : R) : nat -> R := fun k => if Nat.eqb k o then x else l k.
Lemma sum_put : forall n l o x, (o < n)%nat ->
  sum n (fun k => exp (put l o x k)) = exp x + sum n (fun k => if Nat.eqb k o then 0 else exp (l k)).
Proof.
  intros n l o x Ho. unfold put. induction n as [|n IH]; [lia|]. simpl. destruct (Nat.eqb_spec n o) as [E|E].
  - subst o. rewrite (sum_ext n (fun k => exp (if Nat.eqb k n then x else l k)) (fun k => if Nat.eqb k n then 0 else exp
      (l k))).
    + ring.
    + intros k Hk. replace (Nat.eqb k n) with false by (symmetry; apply Nat.eqb_neq; lia). reflexivity.
  - rewrite IH by lia. ring.
Qed.
Theorem weights_and_other_keys : (forall l m i, l i = m i -> sigmoid l i = sigmoid m i)
  /\ forall n l i o, (i < n)%nat -> (o < n)%nat -> i <> o ->
    is_derive (fun x => weight n (put l o x) i) (l o) (- weight n l i * weight n l o)
    /\ forall x, l o < x -> weight n (put l o x) i < weight n l i.
Proof.
  split; [intros l m i E; unfold sigmoid; rewrite E; reflexivity|]. intros n l i o Hi Ho apart.
  set (rest := sum n (fun k => if Nat.eqb k o then 0 else exp (l k))).
  assert (alone : forall x, weight n (put l o x) i = exp (l i) / (exp x + rest)).
  { intros x. unfold weight. rewrite sum_put by exact Ho. unfold put.
    replace (Nat.eqb i o) with false by (symmetry; apply Nat.eqb_neq; exact apart). reflexivity. }
  assert (itself : forall k, put l o (l o) k = l k)
    by (intros k; unfold put; destruct (Nat.eqb_spec k o) as [E|_]; [rewrite E|]; reflexivity).
  assert (positive : 0 <= rest).
  { unfold rest. clear. induction n as [|n IH]; simpl; [lra|]. pose proof (exp_pos (l n)). destruct (Nat.eqb n o); lra.
  }
  assert (all : sum n (fun k => exp (l k)) = exp (l o) + rest).
  { unfold rest. rewrite <- (sum_put n l o (l o) Ho). apply sum_ext. intros. rewrite itself. reflexivity. }
  split.
  - apply (is_derive_ext (fun x => exp (l i) / (exp x + rest))); [intros; symmetry; apply alone|].
    pose proof (exp_pos (l o)). auto_derive; [lra|]. unfold weight. rewrite all. field. lra.
  - intros x less. rewrite alone. unfold weight. rewrite all. pose proof (exp_increasing _ _ less).
    pose proof (exp_pos (l o)).
    apply Rmult_lt_compat_l; [apply exp_pos|]. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat|]; lra.
Qed.
Lemma weights_and_other_keys_twin : ~ ((forall l m i, l i = m i -> sigmoid l i = sigmoid m i)
  /\ forall n l i o, (i < n)%nat -> (o < n)%nat -> i <> o ->
    is_derive (fun x => weight n (put l o x) i) (l o) (weight n l i * weight n l o)
    /\ forall x, l o < x -> weight n (put l o x) i < weight n l i).
Proof.
  intros [_ H]. destruct weights_and_other_keys as [_ K].
  destruct (H 2%nat (fun _ => 0) 0%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia)) as [rises _].
  destruct (K 2%nat (fun _ => 0) 0%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia)) as [falls _].
  pose proof (is_derive_unique _ _ _ rises) as E. rewrite (is_derive_unique _ _ _ falls) in E.
  unfold weight in E. simpl in E. rewrite exp_0 in E. field_simplify in E. lra.
Qed.
