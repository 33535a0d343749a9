(* Position-only linear attention under gradient descent: Theorems 1 and 2; SRC, and what an equal SRC leaves open.

   A pair is a query with a key up to it; training meets some pairs, all pairs are those of N.  A relation phi gives
     each
   pair a label and each label has one parameter: the output at a query is the sum over its pairs p of theta (phi p)
     times
   the token of p, and the target has A p in its place.  Sizes, relations, targets and starts are any. *)

Require Import Reals Lra Lia List Bool Arith Classical ConstructiveEpsilon.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
Open Scope R_scope.

(* Sum over a list. *)
Fixpoint total {A : Type} (f : A -> R) (l : list A) : R := match l with [] => 0 | x :: r => f x + total f r end.
Lemma total_app : forall (A : Type) (f : A -> R) l m, total f (l ++ m) = total f l + total f m.
Proof. intros. induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma total_ext : forall (A : Type) (f g : A -> R) l, (forall x, In x l -> f x = g x) -> total f l = total g l.
Proof.
  intros A f g l same. induction l as [|x l IH]; simpl; [reflexivity|].
  rewrite same by (left; reflexivity). rewrite IH; [reflexivity|]. intros y Hy. apply same. right. exact Hy.
Qed.
Lemma total_zero : forall (A : Type) (f : A -> R) l, (forall x, In x l -> f x = 0) -> total f l = 0.
Proof.
  intros A f l zero. induction l as [|x l IH]; simpl; [reflexivity|].
  rewrite zero by (left; reflexivity). rewrite IH; [ring|]. intros y Hy. apply zero. right. exact Hy.
Qed.
Lemma total_linear : forall (A : Type) (f g : A -> R) x y l,
  total (fun z => x * f z + y * g z) l = x * total f l + y * total g l.
Proof. intros. induction l as [|z l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma total_map : forall (A B : Type) (h : A -> B) (f : B -> R) l, total f (map h l) = total (fun x => f (h x)) l.
Proof. intros. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.
Lemma total_mono : forall (A : Type) (f g : A -> R) l, (forall x, In x l -> f x <= g x) -> total f l <= total g l.
Proof.
  intros A f g l each. induction l as [|x l IH]; simpl; [lra|].
  pose proof (each x (or_introl eq_refl)). assert (total f l <= total g l) by (apply IH; intros; apply each; right;
    assumption).
  lra.
Qed.
Lemma total_scale : forall (A : Type) x (f : A -> R) l, total (fun y => x * f y) l = x * total f l.
Proof. intros. induction l as [|y l IH]; simpl; [ring|]. rewrite IH. ring. Qed.
Lemma total_nonnegative : forall (A : Type) (f : A -> R) l, (forall x, In x l -> 0 <= f x) -> 0 <= total f l.
Proof.
  intros A f l each. apply Rle_trans with (total (fun _ => 0) l); [right; symmetry; apply total_zero; reflexivity|].
  apply total_mono. exact each.
Qed.

(* LRC of a list of entries: its number of different values other than 0. *)
Definition nonzero (x : R) : bool := if Req_EM_T x 0 then false else true.
Definition values (l : list R) : list R := nodup Req_EM_T (filter nonzero l).
Definition lrc (l : list R) : nat := length (values l).

Lemma in_values : forall x l, In x (values l) <-> In x l /\ x <> 0.
Proof.
  intros. unfold values. rewrite nodup_In, filter_In. unfold nonzero. destruct (Req_EM_T x 0); intuition congruence.
Qed.
Lemma values_nodup : forall l, NoDup (values l).
Proof. intros. apply NoDup_nodup. Qed.
Lemma lrc_mono : forall l m, (forall x, In x l -> x <> 0 -> In x m) -> (lrc l <= lrc m)%nat.
Proof.
  intros l m H. apply NoDup_incl_length; [apply values_nodup|]. intros x Hx. apply in_values in Hx.
  apply in_values. intuition.
Qed.
(* Equal counts of values: the longer list has no new value. *)
Lemma same_lrc : forall l m, (forall x, In x l -> In x m) ->
  (lrc m = lrc l <-> forall x, In x m -> x <> 0 -> In x l).
Proof.
  intros l m sub. split; intros H.
  - assert (back : incl (values m) (values l)).
    { apply NoDup_length_incl; [apply values_nodup| unfold lrc in H; lia|].
      intros x Hx. apply in_values in Hx. apply in_values. intuition. }
    intros x Hx nz. apply (in_values x l). apply back. apply in_values. split; assumption.
  - apply Nat.le_antisymm; apply lrc_mono; intuition.
Qed.

(* All lists of length D over an alphabet. *)
Fixpoint words (alphabet : list R) (D : nat) : list (list R) :=
  match D with O => [[]] | S k => flat_map (fun w => map (fun x => x :: w) alphabet) (words alphabet k) end.
Lemma words_spec : forall alphabet D w, In w (words alphabet D) <-> length w = D /\ incl w alphabet.
Proof.
  intros alphabet. induction D as [|D IH]; intros w; simpl.
  - split; [intros [E|[]]; subst; split; [reflexivity|intros x []]|]. intros [E _]. left. destruct w;
      [reflexivity|discriminate].
  - rewrite in_flat_map. split.
    + intros [v [Hv Hw]]. apply in_map_iff in Hw. destruct Hw as [x [E Hx]]. subst. apply IH in Hv.
      destruct Hv as [len sub]. split; [simpl; lia|]. intros y [E|Hy]; [subst; exact Hx|apply sub; exact Hy].
    + intros [len sub]. destruct w as [|x v]; [discriminate|]. exists v. split.
      * apply IH. split; [simpl in len; lia|]. intros y Hy. apply sub. right. exact Hy.
      * apply in_map_iff. exists x. split; [reflexivity|]. apply sub. left. reflexivity.
Qed.
Lemma words_length : forall alphabet D, length (words alphabet D) = (length alphabet ^ D)%nat.
Proof.
  intros alphabet. induction D as [|D IH]; [reflexivity|]. simpl. rewrite <- IH. clear IH.
  induction (words alphabet D) as [|w r IHr]; simpl; [lia|]. rewrite app_length, map_length, IHr. lia.
Qed.
Lemma nodup_app : forall (A : Type) (l m : list A),
  NoDup l -> NoDup m -> (forall x, In x l -> In x m -> False) -> NoDup (l ++ m).
Proof.
  intros A l m Hl Hm apart. induction Hl as [|x l notin Hl IH]; [exact Hm|]. simpl. constructor.
  - rewrite in_app_iff. intros [H|H]; [apply notin; exact H|]. apply (apart x); [left; reflexivity|exact H].
  - apply IH. intros y Hy. apply apart. right. exact Hy.
Qed.
Lemma words_nodup : forall alphabet D, NoDup alphabet -> NoDup (words alphabet D).
Proof.
  intros alphabet D H. induction D as [|D IH]; simpl; [constructor; [intros []|constructor]|].
  induction (words alphabet D) as [|w r IHr]; simpl; [constructor|].
  inversion IH as [|w' r' notin nodup']; subst.
  apply nodup_app; [| apply IHr; exact nodup' |].
  - clear -H. induction H as [|x l notin H IHl]; simpl; constructor; [|exact IHl].
    intros K. apply in_map_iff in K. destruct K as [y [E Hy]]. injection E as E. subst. contradiction.
  - intros v Hv Hr. apply in_map_iff in Hv. destruct Hv as [x [E _]]. subst. apply in_flat_map in Hr.
    destruct Hr as [v [Hv Hx]]. apply in_map_iff in Hx. destruct Hx as [y [E _]]. congruence.
Qed.

(* Theorem 1 (1e): of the extensions of B0 by D entries in [-M, M], exactly (r + 1)^D keep the LRC r of B0, if the
   entries
   of B0 are in [-M, M] (claim pola-1e-count). *)
Theorem theorem_1e : forall B0 D M, 0 <= M -> (forall x, In x B0 -> Rabs x <= M) ->
  exists extensions : list (list R), NoDup extensions /\ length extensions = ((lrc B0 + 1) ^ D)%nat
  /\ forall w, In w extensions <-> length w = D /\ (forall x, In x w -> Rabs x <= M) /\ lrc (B0 ++ w) = lrc B0.
Proof.
  intros B0 D M HM inside. exists (words (0 :: values B0) D).
  assert (nodup : NoDup (0 :: values B0)).
  { constructor; [|apply values_nodup]. intros H. apply in_values in H. intuition. }
  split; [apply words_nodup; exact nodup|]. split.
  - rewrite words_length. simpl length. unfold lrc. f_equal. lia.
  - intros w. rewrite words_spec. apply and_iff_compat_l.
    rewrite (same_lrc B0 (B0 ++ w)) by (intros; apply in_or_app; left; assumption). split.
    + intros H. split.
      * intros x Hx. apply H in Hx. destruct Hx as [E|Hx]; [subst; rewrite Rabs_R0; exact HM|].
        apply in_values in Hx. apply inside. intuition.
      * intros x Hx nz. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; [exact Hx|].
        apply H in Hx. destruct Hx as [E|Hx]; [congruence|]. apply in_values in Hx. intuition.
    + intros [_ H] x Hx. destruct (Req_dec x 0) as [E|nz]; [left; congruence|right].
      apply in_values. split; [|exact nz]. apply H; [apply in_or_app; right; exact Hx|exact nz].
Qed.
Lemma theorem_1e_twin : ~ (forall B0 D M, 0 <= M -> (forall x, In x B0 -> Rabs x <= M) ->
  exists extensions : list (list R), NoDup extensions /\ length extensions = (lrc B0 ^ D)%nat
  /\ forall w, In w extensions <-> length w = D /\ (forall x, In x w -> Rabs x <= M) /\ lrc (B0 ++ w) = lrc B0).
Proof.
  intros H. destruct (H [] 1%nat 0) as [extensions [_ [count spec]]]; [lra|intros x []|]. simpl in count.
  destruct extensions; [|discriminate]. apply (spec [0]). split; [reflexivity|]. split.
  - intros x [E|[]]. subst. rewrite Rabs_R0. lra.
  - unfold lrc, values, nonzero. simpl. destruct (Req_EM_T 0 0); [reflexivity|congruence].
Qed.

(* Training data: each query with its weight and its pairs; a token for each sample and pair; and the mean over samples,
   a linear functional. The tokens of a query have identity second moments, so they span. *)
Record data {pair sample : Type} := {
  queries : list (R * list pair);
  token : sample -> pair -> R;
  mean : (sample -> R) -> R
}.
Arguments data : clear implicits.
Definition sound {pair sample : Type} (d : data pair sample) : Prop :=
  (forall f g, (forall s, f s = g s) -> mean d f = mean d g)
  /\ (forall a b f g, mean d (fun s => a * f s + b * g s) = a * mean d f + b * mean d g)
  /\ forall m keys, In (m, keys) (queries d) -> 0 < m /\ NoDup keys
    /\ forall p q, In p keys -> In q keys -> (p = q -> mean d (fun s => token d s p * token d s q) = 1)
      /\ (p <> q -> mean d (fun s => token d s p * token d s q) = 0).
Definition training {pair sample : Type} (d : data pair sample) : list pair := flat_map snd (queries d).

(* Squared loss of the outputs, and gradient descent on it: each step subtracts eta times the partial derivatives. *)
Definition loss {pair sample label : Type} (d : data pair sample) (A : pair -> R) (phi : pair -> label)
  (theta : label -> R) : R :=
  total (fun query => fst query * mean d (fun s =>
    total (fun p => (A p - theta (phi p)) * token d s p) (snd query) ^ 2)) (queries d).
Definition decides (label : Type) := forall k l : label, {k = l} + {k <> l}.
Definition moved {label : Type} (same : decides label) (theta : label -> R) (k : label) (h : R) : label -> R :=
  fun l => if same l k then theta l + h else theta l.
Definition descends {pair sample label : Type} (same : decides label) (d : data pair sample) (A : pair -> R)
  (phi : pair -> label) (eta : R) (start : label -> R) (theta : nat -> label -> R) : Prop :=
  (forall k, theta O k = start k)
  /\ forall t k, exists slope, is_derive (fun h => loss d A phi (moved same (theta t) k h)) 0 slope
    /\ theta (S t) k = theta t k - eta * slope.
(* What is learned: the limit of the descent. It generalizes if it is the target on all pairs. *)
Definition learns {pair sample label : Type} (same : decides label) (d : data pair sample) (A : pair -> R)
  (phi : pair -> label) (eta : R) (start limit : label -> R) : Prop :=
  exists theta, descends same d A phi eta start theta /\ forall k, is_lim_seq (fun t => theta t k) (limit k).
Definition generalizes {pair label : Type} (N : list pair) (A : pair -> R) (phi : pair -> label) (theta : label -> R) :=
  forall p, In p N -> theta (phi p) = A p.
(* Step sizes for which descent converges. *)
Definition weight_of {pair sample : Type} (d : data pair sample) : R :=
  total (fun query => fst query * INR (length (snd query))) (queries d).
Definition small {pair sample : Type} (d : data pair sample) (eta : R) : Prop := 0 < eta /\ eta * weight_of d < 1.

(* The pairs of training with their weights, and those of one label. *)
Definition weighted {pair sample : Type} (d : data pair sample) : list (R * pair) :=
  flat_map (fun query => map (fun p => (fst query, p)) (snd query)) (queries d).
Definition class {pair sample label : Type} (same : decides label) (d : data pair sample) (phi : pair -> label)
  (k : label) : list (R * pair) := filter (fun x => if same (phi (snd x)) k then true else false) (weighted d).

Lemma mean_zero : forall (pair sample : Type) (d : data pair sample), sound d -> mean d (fun _ => 0) = 0.
Proof.
  intros pair sample d [ext [linear _]]. rewrite (ext _ (fun s => 0 * 0 + 0 * 0)) by (intros; ring).
  rewrite (linear 0 0 (fun _ => 0) (fun _ => 0)). ring.
Qed.
Lemma mean_scale : forall (pair sample : Type) (d : data pair sample) a f, sound d ->
  mean d (fun s => a * f s) = a * mean d f.
Proof.
  intros pair sample d a f H. pose proof H as [ext [linear _]].
  rewrite (ext _ (fun s => a * f s + 0 * 0)) by (intros; ring). rewrite (linear a 0 f (fun _ => 0)). ring.
Qed.
Lemma mean_total : forall (pair sample A : Type) (d : data pair sample) (f : A -> sample -> R) l, sound d ->
  mean d (fun s => total (fun x => f x s) l) = total (fun x => mean d (f x)) l.
Proof.
  intros pair sample A d f l H. induction l as [|x l IH]; simpl; [apply mean_zero; exact H|].
  destruct H as [ext [linear _]].
  rewrite (ext _ (fun s => 1 * f x s + 1 * total (fun y => f y s) l)) by (intros; ring). rewrite linear, IH. ring.
Qed.
(* Identity second moments: the mean square of a sum of tokens with coefficients is the sum of their squares. *)
Lemma mean_square : forall (pair sample : Type) (d : data pair sample) m keys (c : pair -> R), sound d ->
  In (m, keys) (queries d) ->
  mean d (fun s => total (fun p => c p * token d s p) keys ^ 2) = total (fun p => c p ^ 2) keys.
Proof.
  intros pair sample d m keys c H Hq. pose proof H as [ext [linear moments]].
  destruct (moments m keys Hq) as [_ [distinct unit]]. clear moments.
  assert (part : forall l, NoDup l -> incl l keys ->
    mean d (fun s => total (fun p => c p * token d s p) l ^ 2) = total (fun p => c p ^ 2) l).
  { intros l nodup. induction nodup as [|p l out nodup IH]; intros sub.
    - simpl. rewrite (ext _ (fun _ => 0)) by (intros; ring). apply mean_zero. exact H.
    - assert (Hp : In p keys) by (apply sub; left; reflexivity).
      assert (cross : mean d (fun s => token d s p * total (fun q => c q * token d s q) l) = 0).
      { rewrite (ext _ (fun s => total (fun q => c q * (token d s p * token d s q)) l)).
        - rewrite (mean_total _ _ _ d (fun q s => c q * (token d s p * token d s q)) l H). apply total_zero.
          intros q Hin. destruct (unit p q Hp (sub q (or_intror Hin))) as [_ zero].
          rewrite (mean_scale _ _ d (c q) (fun s => token d s p * token d s q) H), zero by (intros E; subst;
            contradiction).
          ring.
        - intros s. rewrite <- total_scale. apply total_ext. intros. ring. }
      destruct (unit p p Hp Hp) as [one _].
      rewrite (ext _ (fun s => 1 * (c p ^ 2 * (token d s p * token d s p)
        + (2 * c p) * (token d s p * total (fun q => c q * token d s q) l))
        + 1 * total (fun q => c q * token d s q) l ^ 2))
        by (intros; simpl; ring).
      rewrite !linear, cross, one by reflexivity.
      change (total (fun q => c q ^ 2) (p :: l)) with (c p ^ 2 + total (fun q => c q ^ 2) l).
      rewrite IH by (intros q Hin; apply sub; right; exact Hin). ring. }
  apply part; [exact distinct|intros p Hin; exact Hin].
Qed.
Lemma loss_is_weighted : forall (pair sample label : Type) (d : data pair sample) A (phi : pair -> label) theta,
  sound d -> loss d A phi theta = total (fun x => fst x * (A (snd x) - theta (phi (snd x))) ^ 2) (weighted d).
Proof.
  intros pair sample label d A phi theta H. unfold loss, weighted.
  assert (each : forall m keys, In (m, keys) (queries d) ->
    mean d (fun s => total (fun p => (A p - theta (phi p)) * token d s p) keys ^ 2)
    = total (fun p => (A p - theta (phi p)) ^ 2) keys) by (intros; eapply mean_square; eassumption).
  revert each. generalize (queries d). intros l. induction l as [|[m keys] l IH]; intros each;
    cbn [total flat_map fst snd]; [reflexivity|].
  rewrite total_app, IH by (intros; eapply each; right; eassumption). f_equal.
  rewrite (each m keys) by (left; reflexivity). rewrite total_map. cbn [fst snd]. symmetry. apply total_scale.
Qed.

(* Sum over the class of a label. *)
Lemma total_filter : forall (A : Type) (f : A -> R) (keep : A -> bool) l,
  total f (filter keep l) = total (fun x => if keep x then f x else 0) l.
Proof.
  intros. induction l as [|x l IH]; simpl; [reflexivity|]. destruct (keep x); simpl; rewrite IH; ring.
Qed.
Lemma loss_slope : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi theta k,
  sound d -> is_derive (fun h => loss d A phi (moved same theta k h)) 0
    (- 2 * total (fun x => fst x * (A (snd x) - theta k)) (class same d phi k)).
Proof.
  intros pair sample label same d A phi theta k H.
  apply (is_derive_ext (fun h => total (fun x => fst x * (A (snd x) - moved same theta k h (phi (snd x))) ^ 2) (weighted
    d))).
  { intros h. symmetry. apply loss_is_weighted. exact H. }
  unfold class. rewrite total_filter, <- total_scale. generalize (weighted d). intros l.
  induction l as [|[m p] l IH]; simpl; [apply (is_derive_const 0)|].
  apply (is_derive_plus (fun h => m * ((A p - moved same theta k h (phi p)) * ((A p - moved same theta k h (phi p)) *
    1)))); [|exact IH].
  unfold moved. destruct (same (phi p) k) as [E|E].
  - rewrite E. auto_derive; [trivial|ring].
  - replace (-2 * 0) with 0 by ring. apply (is_derive_const (m * ((A p - theta (phi p)) * ((A p - theta (phi p)) *
      1)))).
Qed.
(* A step moves each label towards the entries of its own class, and no other. *)
Lemma step : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi eta start theta t k,
  sound d -> descends same d A phi eta start theta ->
  theta (S t) k = theta t k + 2 * eta * total (fun x => fst x * (A (snd x) - theta t k)) (class same d phi k).
Proof.
  intros pair sample label same d A phi eta start theta t k H [_ steps]. destruct (steps t k) as [slope [derives E]].
  rewrite E. rewrite <- (is_derive_unique _ _ _ derives), (is_derive_unique _ _ _ (loss_slope _ _ _ same d A phi (theta
    t) k H)).
  ring.
Qed.
Definition class_weight {pair sample label : Type} (same : decides label) (d : data pair sample) (phi : pair -> label)
  (k : label) : R := total fst (class same d phi k).
Lemma weights_positive : forall (pair sample : Type) (d : data pair sample) x, sound d -> In x (weighted d) -> 0 < fst
  x.
Proof.
  intros pair sample d x [_ [_ moments]] Hx. apply in_flat_map in Hx. destruct Hx as [[m keys] [Hq Hx]].
  apply in_map_iff in Hx. destruct Hx as [p [E Hp]]. subst. simpl. apply (moments m keys Hq).
Qed.
Lemma class_weight_bound : forall (pair sample label : Type) (same : decides label) (d : data pair sample) phi k, sound
  d ->
  class_weight same d phi k <= weight_of d.
Proof.
  intros pair sample label same d phi k H. unfold class_weight, class. rewrite total_filter.
  apply Rle_trans with (total fst (weighted d)).
  - apply total_mono. intros x Hx. pose proof (weights_positive _ _ d x H Hx). destruct (same (phi (snd x)) k); lra.
  - right. unfold weighted, weight_of. clear. induction (queries d) as [|[m keys] l IH]; simpl; [reflexivity|].
    rewrite total_app, IH. f_equal. rewrite total_map. simpl. induction keys as [|p keys IHk]; simpl; [ring|].
    rewrite IHk. destruct (length keys); simpl; ring.
Qed.
Lemma class_spec : forall (pair sample label : Type) (same : decides label) (d : data pair sample) phi k x,
  In x (class same d phi k) <-> In x (weighted d) /\ phi (snd x) = k.
Proof.
  intros. unfold class. rewrite filter_In. destruct (same (phi (snd x)) k); intuition congruence.
Qed.
Lemma in_weighted : forall (pair sample : Type) (d : data pair sample) p,
  (exists m, In (m, p) (weighted d)) <-> In p (training d).
Proof.
  intros. unfold weighted, training. rewrite in_flat_map. split.
  - intros [m H]. apply in_flat_map in H. destruct H as [[m' keys] [Hq H]]. apply in_map_iff in H.
    destruct H as [q [E Hk]]. injection E as _ E. rewrite <- E. exists (m', keys). split; assumption.
  - intros [[m keys] [Hq Hk]]. exists m. apply in_flat_map. exists (m, keys). split; [exact Hq|].
    apply in_map_iff. exists p. split; [reflexivity|exact Hk].
Qed.
Definition met {pair sample label : Type} (d : data pair sample) (phi : pair -> label) (k : label) : Prop :=
  exists p, In p (training d) /\ phi p = k.
(* Where the errors of a class balance: its weighted mean; a label that training does not meet stays at its start. *)
Definition balanced {pair sample label : Type} (same : decides label) (d : data pair sample) (A : pair -> R)
  (phi : pair -> label) (start limit : label -> R) : Prop :=
  forall k, (met d phi k -> total (fun x => fst x * (A (snd x) - limit k)) (class same d phi k) = 0)
    /\ (~ met d phi k -> limit k = start k).
Lemma met_or_empty : forall (pair sample label : Type) (same : decides label) (d : data pair sample) phi k, sound d ->
  (met d phi k /\ 0 < class_weight same d phi k) \/ (~ met d phi k /\ class same d phi k = []).
Proof.
  intros pair sample label same d phi k H. destruct (class same d phi k) as [|x l] eqn:E.
  - right. split; [|reflexivity]. intros [p [Hp Hk]]. apply in_weighted in Hp. destruct Hp as [m Hm].
    assert (B : In (m, p) (class same d phi k)) by (apply class_spec; split; assumption). rewrite E in B. contradiction.
  - left. assert (each : forall y, In y (x :: l) -> In y (weighted d) /\ phi (snd y) = k)
      by (intros y Hy; rewrite <- E in Hy; apply class_spec in Hy; exact Hy). split.
    + exists (snd x). destruct (each x (or_introl eq_refl)) as [Hx Hk]. split; [|exact Hk].
      apply in_weighted. exists (fst x). destruct x. exact Hx.
    + unfold class_weight. rewrite E. clear E.
      assert (positive : forall y, In y (x :: l) -> 0 < fst y) by (intros y Hy; apply (weights_positive _ _ d);
        [exact H|apply each; exact Hy]).
      clear each. simpl. pose proof (positive x (or_introl eq_refl)).
      assert (0 <= total fst l).
      { apply total_nonnegative. intros y Hy. left. apply positive. right. exact Hy. }
      lra.
Qed.
(* Gradient descent converges, and to the balanced point alone. *)
Lemma descent_converges : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi eta
  start,
  sound d -> small d eta -> forall limit, learns same d A phi eta start limit <-> balanced same d A phi start limit.
Proof.
  intros pair sample label same d A phi eta start H [positive small] limit.
  set (run := fix run (t : nat) : label -> R := match t with O => start
    | S u => fun k => run u k + 2 * eta * total (fun x => fst x * (A (snd x) - run u k)) (class same d phi k) end).
  assert (spread : forall c k, total (fun x => fst x * (A (snd x) - c)) (class same d phi k)
    = total (fun x => fst x * A (snd x)) (class same d phi k) - class_weight same d phi k * c).
  { intros c k. unfold class_weight. generalize (class same d phi k). intros l.
    induction l as [|x l IH]; simpl; [ring|]. rewrite IH. ring. }
  assert (converges : forall theta, descends same d A phi eta start theta -> forall k c,
    (met d phi k -> total (fun x => fst x * (A (snd x) - c)) (class same d phi k) = 0) ->
    (~ met d phi k -> c = start k) -> is_lim_seq (fun t => theta t k) c).
  { intros theta run' k c balance stays. pose proof (proj1 run' k) as begins.
    destruct (met_or_empty _ _ _ same d phi k H) as [[Hm W]|[Hm E]].
    - specialize (balance Hm). rewrite spread in balance. set (q := 1 - 2 * eta * class_weight same d phi k).
      assert (closed : forall t, theta t k = c + q ^ t * (start k - c)).
      { induction t as [|t IH]; [simpl; rewrite begins; ring|].
        rewrite (step _ _ _ same d A phi eta start theta t k H run'), spread, IH. simpl. unfold q.
        replace (total (fun x => fst x * A (snd x)) (class same d phi k)) with (class_weight same d phi k * c) by lra.
        ring. }
      apply (is_lim_seq_ext (fun t => c + q ^ t * (start k - c))); [intros t; symmetry; apply closed|].
      replace (Finite c) with (Finite (c + 0 * (start k - c))) by (f_equal; ring).
      apply (is_lim_seq_plus' (fun _ => c) (fun t => q ^ t * (start k - c))); [apply is_lim_seq_const|].
      apply (is_lim_seq_mult' (fun t => q ^ t) (fun _ => start k - c)); [|apply is_lim_seq_const].
      apply is_lim_seq_geom.
      pose proof (class_weight_bound _ _ _ same d phi k H).
      assert (eta * class_weight same d phi k <= eta * weight_of d) by (apply Rmult_le_compat_l; lra).
      assert (0 < eta * class_weight same d phi k) by (apply Rmult_lt_0_compat; assumption).
      unfold q. apply Rabs_def1; lra.
    - rewrite (stays Hm). apply (is_lim_seq_ext (fun _ => start k)); [|apply is_lim_seq_const].
      intros t. symmetry. induction t as [|t IH]; [exact begins|].
      rewrite (step _ _ _ same d A phi eta start theta t k H run'), E, IH. simpl. ring. }
  assert (runs : descends same d A phi eta start run).
  { split; [reflexivity|]. intros t k. eexists. split; [apply loss_slope; exact H|]. simpl. ring. }
  split.
  - intros [theta [run' limits]] k. destruct (met_or_empty _ _ _ same d phi k H) as [[Hm W]|[Hm E]].
    + split; [|contradiction]. intros _.
      set (c := total (fun x => fst x * A (snd x)) (class same d phi k) / class_weight same d phi k).
      assert (zero : total (fun x => fst x * (A (snd x) - c)) (class same d phi k) = 0)
        by (rewrite spread; unfold c; field; lra).
      assert (E : limit k = c).
      { pose proof (is_lim_seq_unique _ _ (limits k)) as L.
        rewrite (is_lim_seq_unique _ _ (converges theta run' k c (fun _ => zero) (fun out => False_ind _ (out Hm)))) in
          L.
        injection L as L. symmetry. exact L. }
      rewrite E. exact zero.
    + split; [contradiction|]. intros _. pose proof (is_lim_seq_unique _ _ (limits k)) as L.
      rewrite (is_lim_seq_unique _ _ (converges theta run' k (start k) (fun m => False_ind _ (Hm m)) (fun _ =>
        eq_refl))) in L.
      injection L as L. symmetry. exact L.
  - intros balance. exists run. split; [exact runs|]. intros k. apply converges; [exact runs| |]; apply balance.
Qed.

(* The point to which descent converges, written down. *)
Definition mean_of {pair sample label : Type} (same : decides label) (d : data pair sample) (A : pair -> R)
  (phi : pair -> label) (start : label -> R) : label -> R := fun k =>
  match class same d phi k with
  | [] => start k
  | _ => total (fun x => fst x * A (snd x)) (class same d phi k) / class_weight same d phi k
  end.
Lemma mean_is_balanced : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi start,
  sound d -> balanced same d A phi start (mean_of same d A phi start).
Proof.
  intros pair sample label same d A phi start H k. destruct (met_or_empty _ _ _ same d phi k H) as [[Hm W]|[Hm E]].
  - split; [|contradiction]. intros _. unfold mean_of. destruct (class same d phi k) as [|x l] eqn:E.
    + exfalso. unfold class_weight in W. rewrite E in W. simpl in W. lra.
    + rewrite <- E. set (c := total (fun x => fst x * A (snd x)) (class same d phi k) / class_weight same d phi k).
      assert (spread : total (fun x => fst x * (A (snd x) - c)) (class same d phi k)
        = total (fun x => fst x * A (snd x)) (class same d phi k) - class_weight same d phi k * c).
      { unfold class_weight. generalize (class same d phi k). intros m. induction m as [|y m IH]; simpl; [ring|].
      rewrite IH. ring. }
      rewrite spread. unfold c. field. lra.
  - split; [contradiction|]. intros _. unfold mean_of. rewrite E. reflexivity.
Qed.
Lemma learned_exists : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi eta start,
  sound d -> small d eta -> learns same d A phi eta start (mean_of same d A phi start).
Proof. intros. apply descent_converges; [assumption|assumption|]. apply mean_is_balanced. assumption. Qed.
Lemma balanced_is_unique : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A B phi start
  l m,
  sound d -> (forall p, In p (training d) -> A p = B p) -> balanced same d A phi start l -> balanced same d B phi start
    m ->
  forall k, l k = m k.
Proof.
  intros pair sample label same d A B phi start l m H agree first second k.
  destruct (met_or_empty _ _ _ same d phi k H) as [[Hm W]|[Hm E]].
  - pose proof (proj1 (first k) Hm) as F. pose proof (proj1 (second k) Hm) as S.
    rewrite (total_ext _ _ (fun x => fst x * (A (snd x) - m k))) in S.
    + assert (spread : forall c, total (fun x => fst x * (A (snd x) - c)) (class same d phi k)
        = total (fun x => fst x * A (snd x)) (class same d phi k) - class_weight same d phi k * c).
      { intros c. unfold class_weight. generalize (class same d phi k). intros n. induction n as [|y n IH]; simpl;
        [ring|]. rewrite IH. ring. }
      rewrite spread in F, S. apply (Rmult_eq_reg_l (class_weight same d phi k)); lra.
    + intros x Hx. apply class_spec in Hx. destruct Hx as [Hx _]. rewrite agree; [reflexivity|].
      apply in_weighted. exists (fst x). destruct x. exact Hx.
  - rewrite (proj2 (first k) Hm), (proj2 (second k) Hm). reflexivity.
Qed.
Lemma right_in_class : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi start limit
  a k,
  sound d -> balanced same d A phi start limit -> met d phi k ->
  (forall p, In p (training d) -> phi p = k -> A p = a) -> limit k = a.
Proof.
  intros pair sample label same d A phi start limit a k H balance Hm constant.
  destruct (met_or_empty _ _ _ same d phi k H) as [[_ W]|[out _]]; [|contradiction].
  pose proof (proj1 (balance k) Hm) as zero.
  rewrite (total_ext _ _ (fun x => (a - limit k) * fst x)) in zero.
  - rewrite total_scale in zero. fold (class_weight same d phi k) in zero. apply Rmult_integral in zero. lra.
  - intros x Hx. apply class_spec in Hx. destruct Hx as [Hx Hk].
    rewrite constant; [ring| |exact Hk]. apply in_weighted. exists (fst x). destruct x. exact Hx.
Qed.
Lemma not_met : forall (pair sample label : Type) (same : decides label) (d : data pair sample) (phi : pair -> label) k,
  sound d -> met d phi k \/ ~ met d phi k.
Proof. intros. destruct (met_or_empty _ _ _ same d phi k H) as [[Hm _]|[Hm _]]; [left|right]; exact Hm. Qed.
Lemma right_limits : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi start limit
  N,
  sound d -> incl (training d) N -> balanced same d A phi start limit ->
  (generalizes N A phi limit <-> (forall p q, In p N -> In q N -> phi p = phi q -> A p = A q)
    /\ (forall p, In p N -> ~ met d phi (phi p) -> A p = start (phi p))).
Proof.
  intros pair sample label same d A phi start limit N H sub balance. split.
  - intros right. split.
    + intros p q Hp Hq E. rewrite <- (right p Hp), <- (right q Hq), E. reflexivity.
    + intros p Hp out. rewrite <- (right p Hp). apply (proj2 (balance (phi p))). exact out.
  - intros [constant stays] p Hp. destruct (not_met _ _ _ same d phi (phi p) H) as [Hm|out].
    + apply (right_in_class _ _ _ same d A phi start limit); try assumption.
      intros q Hq E. apply constant; [apply sub; exact Hq|exact Hp|exact E].
    + rewrite (proj2 (balance (phi p)) out). symmetry. apply stays; assumption.
Qed.

(* Theorem 2 (2a), from any start: gradient descent converges; a label that training never meets keeps its start;
   and the
   limit is right on all pairs if and only if the target is constant on the classes of the relation and equals the start
   on the classes never met. These targets are the pattern of the start plus a linear space, with one free value for
     each
   of the different labels that training meets (claims pola-2a, pola-2-start). *)
Definition pattern {pair sample label : Type} (same : decides label) (d : data pair sample) (phi : pair -> label)
  (start c : label -> R) : pair -> R :=
  fun p => if in_dec same (phi p) (map phi (training d)) then c (phi p) else start (phi p).
Definition origin {label : Type} : label -> R := fun _ => 0.
Theorem theorem_2a : forall (pair sample label : Type) (same : decides label) (d : data pair sample) phi eta start N,
  sound d -> small d eta -> incl (training d) N ->
  (forall A, exists limit, learns same d A phi eta start limit)
  /\ (forall A limit, learns same d A phi eta start limit ->
    (forall k, ~ met d phi k -> limit k = start k)
    /\ (generalizes N A phi limit <-> (forall p q, In p N -> In q N -> phi p = phi q -> A p = A q)
      /\ (forall p, In p N -> ~ met d phi (phi p) -> A p = start (phi p))))
  /\ (forall A, (exists limit, learns same d A phi eta start limit /\ generalizes N A phi limit)
    <-> exists c, forall p, In p N -> A p = pattern same d phi start origin p + pattern same d phi origin c p)
  /\ (forall x y b c p, pattern same d phi origin (fun k => x * b k + y * c k) p
    = x * pattern same d phi origin b p + y * pattern same d phi origin c p)
  /\ exists labels, NoDup labels /\ (forall k, In k labels <-> met d phi k)
    /\ forall b c, (forall p, In p N -> pattern same d phi origin b p = pattern same d phi origin c p)
      <-> forall k, In k labels -> b k = c k.
Proof.
  intros pair sample label same d phi eta start N H Hs sub.
  assert (spec : forall k, In k (map phi (training d)) <-> met d phi k).
  { intros k. rewrite in_map_iff. unfold met. split; intros [p [E F]]; exists p; split; assumption. }
  assert (iff : forall A limit, learns same d A phi eta start limit ->
    (generalizes N A phi limit <-> (forall p q, In p N -> In q N -> phi p = phi q -> A p = A q)
      /\ (forall p, In p N -> ~ met d phi (phi p) -> A p = start (phi p)))).
  { intros A limit learned. apply (right_limits _ _ _ same d A phi start limit N H sub).
    apply (descent_converges _ _ _ same d A phi eta start H Hs). exact learned. }
  split; [|split; [|split; [|split]]].
  - intros A. eexists. apply learned_exists; assumption.
  - intros A limit learned. split; [|apply iff; exact learned].
    apply (descent_converges _ _ _ same d A phi eta start H Hs) in learned. intros k out. apply (learned k). exact out.
  - intros A. split.
    + intros [limit [learned right]]. exists limit. intros p Hp. unfold pattern, origin.
      destruct (in_dec same (phi p) (map phi (training d))) as [Hm|out]; [rewrite (right p Hp); ring|].
      apply (iff A limit learned) in right. rewrite (proj2 right p Hp); [ring|]. rewrite <- spec. exact out.
    + intros [c E]. exists (mean_of same d A phi start).
      assert (L : learns same d A phi eta start (mean_of same d A phi start)) by (apply learned_exists; assumption).
      split; [exact L|]. apply (iff A _ L). unfold pattern, origin in E. split.
      * intros p q Hp Hq same'. rewrite (E p Hp), (E q Hq), same'. reflexivity.
      * intros p Hp out. rewrite (E p Hp).
        destruct (in_dec same (phi p) (map phi (training d))) as [Hm|_]; [|ring]. apply spec in Hm. contradiction.
  - intros x y b c p. unfold pattern, origin. destruct (in_dec same (phi p) (map phi (training d))); ring.
  - exists (nodup same (map phi (training d))). split; [apply NoDup_nodup|]. split; [intros k; rewrite nodup_In;
      apply spec|].
    intros b c. unfold pattern. split.
    + intros E k Hk. rewrite nodup_In, spec in Hk. destruct Hk as [p [Hp Hk]]. specialize (E p (sub p Hp)).
      destruct (in_dec same (phi p) (map phi (training d))) as [_|out]; [rewrite Hk in E; exact E|].
      exfalso. apply out. apply in_map. exact Hp.
    + intros E p Hp. destruct (in_dec same (phi p) (map phi (training d))) as [Hm|_]; [|reflexivity].
      apply E. rewrite nodup_In. exact Hm.
Qed.

(* Data with one query of these pairs: its tokens are those of an orthonormal basis. *)
Definition basis (keys : list nat) : data nat nat := {|
  queries := [(1, keys)]; token := fun s p => if Nat.eqb s p then 1 else 0; mean := fun f => total f keys |}.
Lemma basis_sound : forall keys, NoDup keys -> sound (basis keys).
Proof.
  intros keys distinct. split; [intros f g E; apply total_ext; intros; apply E|]. split.
  - intros. simpl. rewrite <- total_linear. apply total_ext. intros. ring.
  - intros m l [E|[]]. injection E as E1 E2. subst. split; [lra|]. split; [exact distinct|]. intros p q Hp Hq. simpl.
    split.
    + intros E. subst q. induction distinct as [|r l out distinct IH]; [contradiction|]. simpl. destruct Hp as [E|Hp].
      * subst r. rewrite Nat.eqb_refl, (total_zero _ _ l); [ring|]. intros s Hs.
        destruct (Nat.eqb_spec s p) as [B|_]; [subst; contradiction|ring].
      * rewrite IH by assumption. destruct (Nat.eqb_spec r p) as [B|_]; [subst; contradiction|ring].
    + intros apart. apply total_zero. intros s _. destruct (Nat.eqb_spec s p), (Nat.eqb_spec s q); try ring. congruence.
Qed.
Lemma basis_small : forall keys, (length keys <= 2)%nat -> small (basis keys) (1 / 4).
Proof.
  intros keys bound. unfold small, weight_of. simpl. apply le_INR in bound. simpl in bound. split; lra.
Qed.
Definition decide_unit : decides unit := fun k l => match k, l with tt, tt => left eq_refl end.
Lemma one_pair : NoDup [0%nat].
Proof. repeat constructor. intros []. Qed.
Lemma first_of_two : incl (training (basis [0%nat])) [0%nat; 1%nat].
Proof. intros p [E|[]]. left. exact E. Qed.
Lemma one_is_not_met : ~ met (basis [0%nat]) (fun p : nat => p) 1%nat.
Proof. intros [p [[E|[]] F]]. congruence. Qed.

Lemma theorem_2a_twin : ~ (forall (pair sample label : Type) (same : decides label) (d : data pair sample) phi eta start
  N,
  sound d -> small d eta -> incl (training d) N ->
  (forall A, exists limit, learns same d A phi eta start limit)
  /\ (forall A limit, learns same d A phi eta start limit ->
    (forall k, ~ met d phi k -> limit k = start k)
    /\ (generalizes N A phi limit <-> (forall p q, In p N -> In q N -> phi p = phi q -> A p = A q)
      /\ (forall p, In p N -> ~ met d phi (phi p) -> A p = 1)))
  /\ (forall A, (exists limit, learns same d A phi eta start limit /\ generalizes N A phi limit)
    <-> exists c, forall p, In p N -> A p = pattern same d phi start origin p + pattern same d phi origin c p)
  /\ (forall x y b c p, pattern same d phi origin (fun k => x * b k + y * c k) p
    = x * pattern same d phi origin b p + y * pattern same d phi origin c p)
  /\ exists labels, NoDup labels /\ (forall k, In k labels <-> met d phi k)
    /\ forall b c, (forall p, In p N -> pattern same d phi origin b p = pattern same d phi origin c p)
      <-> forall k, In k labels -> b k = c k).
Proof.
  intros H. pose proof (basis_sound _ one_pair) as fine. pose proof (basis_small [0%nat] ltac:(simpl; lia)) as slow.
  destruct (H nat nat nat Nat.eq_dec (basis [0%nat]) (fun p => p) (1 / 4) origin [0%nat; 1%nat] fine slow first_of_two)
    as [_ [iff _]].
  pose proof (learned_exists _ _ _ Nat.eq_dec (basis [0%nat]) origin (fun p => p) (1 / 4) origin fine slow) as L.
  destruct (iff _ _ L) as [stays [one _]]. destruct one as [_ one].
  - intros p [E|[E|[]]]; subst; [unfold mean_of, origin, class_weight; simpl; field|apply stays; exact one_is_not_met].
  - specialize (one 1%nat (or_intror (or_introl eq_refl)) one_is_not_met). unfold origin in one. lra.
Qed.

(* Theorem 2 (2c): consistency (the target is constant on the classes of the relation) and coverage (training meets
   every
   label) suffice for generalization, from every start; where training shows some pairs and leaves out others, neither
   does alone (claim pola-2c). *)
Definition consistent {pair label : Type} (N : list pair) (A : pair -> R) (phi : pair -> label) : Prop :=
  forall p q, In p N -> In q N -> phi p = phi q -> A p = A q.
Definition covered {pair sample label : Type} (N : list pair) (d : data pair sample) (phi : pair -> label) : Prop :=
  forall p, In p N -> met d phi (phi p).
Definition suffices (enough : forall label : Type, list nat -> data nat nat -> (nat -> R) -> (nat -> label) -> Prop) :=
  forall (label : Type) (same : decides label) (d : data nat nat) phi eta start N A limit,
  sound d -> small d eta -> incl (training d) N -> training d <> [] -> ~ incl N (training d) -> enough label N d A phi
    ->
  learns same d A phi eta start limit -> generalizes N A phi limit.
Theorem theorem_2c :
  (forall (pair sample label : Type) (same : decides label) (d : data pair sample) phi eta start N A limit,
  sound d -> small d eta -> incl (training d) N -> consistent N A phi -> covered N d phi ->
  learns same d A phi eta start limit -> generalizes N A phi limit)
  /\ ~ suffices (fun label N d A phi => consistent N A phi) /\ ~ suffices (fun label N d A phi => covered N d phi).
Proof.
  pose proof (basis_sound _ one_pair) as fine. pose proof (basis_small [0%nat] ltac:(simpl; lia)) as slow.
  assert (shows : training (basis [0%nat]) <> []) by discriminate.
  assert (leaves : ~ incl [0%nat; 1%nat] (training (basis [0%nat])))
    by (intros B; destruct (B 1%nat (or_intror (or_introl eq_refl))) as [E|[]]; discriminate).
  split; [|split].
  - intros pair sample label same d phi eta start N A limit H Hs sub constant meets learned.
    apply (descent_converges _ _ _ same d A phi eta start H Hs) in learned.
    apply (right_limits _ _ _ same d A phi start limit N H sub learned). split; [exact constant|].
    intros p Hp out. exfalso. apply out. apply meets. exact Hp.
  - intros H. pose proof (learned_exists _ _ _ Nat.eq_dec (basis [0%nat]) (fun _ => 1) (fun p => p) (1 / 4) origin fine
      slow) as L.
    assert (E := H nat Nat.eq_dec (basis [0%nat]) (fun p => p) (1 / 4) origin [0%nat; 1%nat] (fun _ => 1) _ fine slow
      first_of_two shows leaves ltac:(intros p q _ _ _; reflexivity) L 1%nat (or_intror (or_introl eq_refl))).
    apply (descent_converges _ _ _ Nat.eq_dec (basis [0%nat]) (fun _ => 1) (fun p => p) (1 / 4) origin fine slow) in L.
    cbv beta in E. rewrite (proj2 (L 1%nat) one_is_not_met) in E. unfold origin in E. lra.
  - intros H. set (A := fun p : nat => match p with O => 1 | _ => 0 end).
    pose proof (learned_exists _ _ _ decide_unit (basis [0%nat]) A (fun _ => tt) (1 / 4) origin fine slow) as L.
    assert (meets : covered [0%nat; 1%nat] (basis [0%nat]) (fun _ => tt))
      by (intros p _; exists 0%nat; split; [left|]; reflexivity).
    assert (R := H unit decide_unit (basis [0%nat]) (fun _ => tt) (1 / 4) origin [0%nat; 1%nat] A _ fine slow
      first_of_two shows leaves meets L).
    pose proof (R 0%nat (or_introl eq_refl)) as first. pose proof (R 1%nat (or_intror (or_introl eq_refl))) as second.
    assert (same : A 0%nat = A 1%nat) by (etransitivity; [symmetry; exact first|exact second]). unfold A in same. lra.
Qed.
Lemma theorem_2c_twin : ~ (
  (forall (pair sample label : Type) (same : decides label) (d : data pair sample) phi eta start N A limit,
  sound d -> small d eta -> incl (training d) N -> consistent N A phi -> covered N d phi ->
  learns same d A phi eta start limit -> generalizes N A phi limit)
  /\ ~ suffices (fun label N d A phi => consistent N A phi /\ covered N d phi)
  /\ ~ suffices (fun label N d A phi => covered N d phi)).
Proof.
  intros [enough [other _]]. apply other. intros label same d phi eta start N A limit H Hs sub _ _ [constant meets]
    learned.
  apply (enough nat nat label same d phi eta start N A limit); assumption.
Qed.

(* Theorem 2 (2b): some relation lets gradient descent from 0 generalize if and only if the LRC of the target on all
   pairs
   is that on the pairs of training (claim pola-2b). *)
Theorem theorem_2b : forall (pair sample : Type) (d : data pair sample) eta N A,
  sound d -> small d eta -> incl (training d) N ->
  ((exists (phi : pair -> R) limit, learns Req_EM_T d A phi eta (fun _ => 0) limit /\ generalizes N A phi limit)
   <-> lrc (map A N) = lrc (map A (training d))).
Proof.
  intros pair sample d eta N A H Hs sub. rewrite (same_lrc (map A (training d)) (map A N)).
  2: { intros x Hx. apply in_map_iff in Hx. destruct Hx as [p [E Hp]]. apply in_map_iff. exists p. split;
    [exact E|apply sub; exact Hp]. }
  split.
  - intros [phi [limit [learned right]]] x Hx nz. apply in_map_iff in Hx. destruct Hx as [p [E Hp]]. subst.
    apply (descent_converges _ _ _ _ d A phi eta _ H Hs) in learned.
    apply (right_limits _ _ _ _ d A phi _ limit N H sub learned) in right. destruct right as [constant zero].
    destruct (not_met _ _ _ Req_EM_T d phi (phi p) H) as [[q [Hq Eq]]|out].
    + apply in_map_iff. exists q. split; [|exact Hq]. apply constant; [apply sub; exact Hq|exact Hp|exact Eq].
    + exfalso. apply nz. apply zero; assumption.
  - intros no_new. exists A, (mean_of Req_EM_T d A A (fun _ => 0)). split; [apply learned_exists; assumption|].
    apply (right_limits _ _ _ _ d A A _ _ N H sub (mean_is_balanced _ _ _ Req_EM_T d A A (fun _ => 0) H)).
    split; [intros p q _ _ E; exact E|]. intros p Hp out. destruct (Req_dec (A p) 0) as [E|nz]; [exact E|].
    exfalso. apply out. assert (B : In (A p) (map A (training d))) by (apply no_new; [apply in_map; exact Hp|exact nz]).
    apply in_map_iff in B. destruct B as [q [E Hq]]. exists q. split; assumption.
Qed.
Lemma theorem_2b_twin : ~ (forall (pair sample : Type) (d : data pair sample) eta N A,
  sound d -> small d eta -> incl (training d) N ->
  ((exists (phi : pair -> R) limit, learns Req_EM_T d A phi eta (fun _ => 1) limit /\ generalizes N A phi limit)
   <-> lrc (map A N) = lrc (map A (training d)))).
Proof.
  intros H. pose proof (basis_sound _ one_pair) as fine. pose proof (basis_small [0%nat] ltac:(simpl; lia)) as slow.
  set (A := fun p : nat => match p with O => 2 | _ => 0 end).
  destruct (H nat nat (basis [0%nat]) (1 / 4) [0%nat; 1%nat] A fine slow first_of_two) as [_ equal].
  destruct equal as [phi [limit [learned right]]].
  { apply (same_lrc (map A [0%nat]) (map A [0%nat; 1%nat])).
    - intros x [E|[]]. left. exact E.
    - intros x [E|[E|[]]] nz; [left; exact E|exfalso; apply nz; symmetry; exact E]. }
  apply (descent_converges _ _ _ _ _ _ _ _ _ fine slow) in learned.
  apply (right_limits _ _ _ _ _ _ _ _ _ [0%nat; 1%nat] fine first_of_two learned) in right.
  destruct right as [constant stays].
  destruct (not_met _ _ _ Req_EM_T (basis [0%nat]) phi (phi 1%nat) fine) as [[q [[Hq|[]] E]]|out].
  - subst q. specialize (constant 0%nat 1%nat (or_introl eq_refl) (or_intror (or_introl eq_refl)) E).
    unfold A in constant. lra.
  - specialize (stays 1%nat (or_intror (or_introl eq_refl)) out). unfold A in stays. lra.
Qed.

(* Theorem 1 (1a): training shows the leading block of the target and no more, so under each relation at most one target
   with a given block generalizes. For countably many relations, fixed beforehand, these targets have covers by cubes of
   which the sum of side^s is as small as one likes, for every s > 0: Hausdorff dimension 0 and, for s = D, volume 0
   (claim pola-1a). *)
Theorem theorem_1a : forall (pair sample label : Type) (same : decides label) (d : data pair sample) eta start N,
  sound d -> small d eta -> incl (training d) N ->
  let reached phi A := exists limit, learns same d A phi eta start limit /\ generalizes N A phi limit in
  let agree L A B := forall p : pair, In p L -> A p = B p :> R in
  (forall phi A B, agree (training d) A B -> reached phi A -> reached phi B -> agree N A B)
  /\ forall (family : nat -> pair -> label) B0 s eps, 0 < s -> 0 < eps ->
    exists (centre : nat -> pair -> R) (side : nat -> R), (forall n, 0 < side n)
      /\ (forall n, sum_f_R0 (fun l => Rpower (side l) s) n <= eps)
      /\ forall A, agree (training d) A B0 -> (exists n, reached (family n) A) ->
        exists n, forall p, In p N -> Rabs (A p - centre n p) <= side n / 2.
Proof.
  intros pair sample label same d eta start N H Hs sub reached agree. split.
  - intros phi A B block [l [learnsA rightA]] [m [learnsB rightB]] p Hp.
    apply (descent_converges _ _ _ same d A phi eta start H Hs) in learnsA.
    apply (descent_converges _ _ _ same d B phi eta start H Hs) in learnsB.
    rewrite <- (rightA p Hp), <- (rightB p Hp). apply (balanced_is_unique _ _ _ same d A B phi start); assumption.
  - intros family B0 s eps Hpos Heps.
    exists (fun n p => mean_of same d B0 (family n) start (family n p)), (fun n => Rpower (eps / 2 ^ S n) (/ s)).
    assert (power : forall n, Rpower (Rpower (eps / 2 ^ S n) (/ s)) s = eps / 2 ^ S n).
    { intros n. rewrite Rpower_mult, Rinv_l by lra. apply Rpower_1. apply Rdiv_lt_0_compat; [exact Heps|apply pow_lt;
      lra]. }
    split; [intros n; apply exp_pos|]. split.
    + intros n. apply Rle_trans with (eps * (1 - / 2 ^ S n)).
      * right. induction n as [|n IH]; cbn [sum_f_R0]; rewrite power; [simpl; field|].
        rewrite IH. simpl. field. apply pow_nonzero. lra.
      * assert (0 < / 2 ^ S n) by (apply Rinv_0_lt_compat; apply pow_lt; lra).
        assert (0 <= eps * / 2 ^ S n) by (apply Rmult_le_pos; lra). lra.
    + intros A block [n [limit [learned right]]]. exists n. intros p Hp. rewrite <- (right p Hp).
      apply (descent_converges _ _ _ same d A (family n) eta start H Hs) in learned.
      rewrite (balanced_is_unique _ _ _ same d A B0 (family n) start limit (mean_of same d B0 (family n) start) H block
        learned
        (mean_is_balanced _ _ _ same d B0 (family n) start H)), Rminus_diag_eq, Rabs_R0 by reflexivity.
      left. apply Rdiv_lt_0_compat; [apply exp_pos|lra].
Qed.
Lemma theorem_1a_twin : ~ (forall (pair sample label : Type) (same : decides label) (d : data pair sample) eta start N,
  sound d -> small d eta -> incl (training d) N ->
  let reached phi A := exists limit, learns same d A phi eta start limit /\ generalizes N A phi limit in
  let agree L A B := forall p : pair, In p L -> A p = B p :> R in
  (forall phi psi A B, agree (training d) A B -> reached phi A -> reached psi B -> agree N A B)
  /\ forall (family : nat -> pair -> label) B0 s eps, 0 < s -> 0 < eps ->
    exists (centre : nat -> pair -> R) (side : nat -> R), (forall n, 0 < side n)
      /\ (forall n, sum_f_R0 (fun l => Rpower (side l) s) n <= eps)
      /\ forall A, agree (training d) A B0 -> (exists n, reached (family n) A) ->
        exists n, forall p, In p N -> Rabs (A p - centre n p) <= side n / 2).
Proof.
  intros H. pose proof (basis_sound _ one_pair) as fine. pose proof (basis_small [0%nat] ltac:(simpl; lia)) as slow.
  destruct (H nat nat nat Nat.eq_dec (basis [0%nat]) (1 / 4) origin [0%nat; 1%nat] fine slow first_of_two) as [one _].
  set (A := fun p : nat => match p with O => 1 | _ => 0 end). set (B := fun _ : nat => 1).
  assert (reached : forall (phi : nat -> nat) C, consistent [0%nat; 1%nat] C phi ->
    (~ met (basis [0%nat]) phi (phi 1%nat) -> C 1%nat = 0) ->
    exists limit, learns Nat.eq_dec (basis [0%nat]) C phi (1 / 4) origin limit /\ generalizes [0%nat;
      1%nat] C phi limit).
  { intros phi C constant stays. eexists. split; [apply learned_exists; assumption|].
    apply (right_limits _ _ _ _ _ _ _ _ _ _ fine first_of_two (mean_is_balanced _ _ _ Nat.eq_dec _ C phi origin fine)).
    split; [exact constant|]. intros p [E|[E|[]]] out; subst; [exfalso; apply out; exists 0%nat; split; [left|];
      reflexivity|].
    apply stays. exact out. }
  assert (E : A 1%nat = B 1%nat).
  { apply (one (fun p => p) (fun _ => 0%nat) A B); [intros p [E|[]]; subst; reflexivity| | |right; left; reflexivity].
    - apply reached; [intros p q _ _ E; rewrite E; reflexivity|reflexivity].
    - apply reached; [intros p q _ _ _; reflexivity|].
      intros out. exfalso. apply out. exists 0%nat. split; [left|]; reflexivity. }
  unfold A, B in E. lra.
Qed.

(* Theorem 1 (1b): given the block, a learner that is right with probability 1 - delta or more, whatever its chances
   are,
   reaches at most floor(1/(1 - delta)) targets; and where training leaves an entry open, gradient descent from a random
   start reaches so many, within any bound M that the block keeps (claim pola-1b). *)
Definition chance {outcome : Type} (P : (outcome -> bool) -> R) : Prop :=
  (forall E, 0 <= P E) /\ P (fun _ => true) = 1 /\ (forall E F, (forall o, E o = F o) -> P E = P F)
  /\ forall E F, (forall o, E o = true -> F o = true -> False) -> P (fun o => E o || F o) = P E + P F.
Definition right {pair outcome : Type} (N : list pair) (learned : outcome -> pair -> R) (A : pair -> R) (o : outcome) :
  bool :=
  forallb (fun p => if Req_EM_T (learned o p) (A p) then true else false) N.
Definition different {pair : Type} (N : list pair) (targets : nat -> pair -> R) (k : nat) : Prop :=
  forall m n, (m < n)%nat -> (n < k)%nat -> exists p, In p N /\ targets m p <> targets n p.
Lemma right_spec : forall (pair outcome : Type) (N : list pair) (learned : outcome -> pair -> R) A o,
  right N learned A o = true <-> forall p, In p N -> learned o p = A p.
Proof.
  intros. unfold right. rewrite forallb_forall. split; intros H p Hp; specialize (H p Hp);
    destruct (Req_EM_T (learned o p) (A p)); congruence.
Qed.
Lemma count_positive : forall (E : nat -> bool) k, 0 <= total (fun n => if E n then 1 else 0) (seq 0 k).
Proof.
  intros. apply total_nonnegative. intros n _. destruct (E n); lra.
Qed.
Lemma total_const : forall (A : Type) x (l : list A), total (fun _ => x) l = INR (length l) * x.
Proof.
  intros. induction l as [|y l IH]; [simpl; ring|]. change (length (y :: l)) with (S (length l)). rewrite S_INR. simpl.
  rewrite IH. ring.
Qed.
Lemma at_most : forall k x, INR k <= x <-> (Z.of_nat k <= Int_part x)%Z.
Proof.
  intros k x. destruct (base_Int_part x) as [below above]. rewrite INR_IZR_INZ. split; intros H.
  - apply Zlt_succ_le. apply lt_IZR. rewrite succ_IZR. lra.
  - apply IZR_le in H. lra.
Qed.
Theorem theorem_1b : forall (pair sample : Type) (same : decides pair) (d : data pair sample) eta N delta,
  sound d -> small d eta -> incl (training d) N -> 0 <= delta < 1 ->
  (forall (outcome : Type) (P : (outcome -> bool) -> R) (learned : outcome -> pair -> R) targets k, chance P ->
    different N targets k -> (forall n, (n < k)%nat -> 1 - delta <= P (right N learned (targets n))) ->
    (Z.of_nat k <= Int_part (/ (1 - delta)))%Z)
  /\ forall B0 M open k, 0 < M -> (forall p, Rabs (B0 p) <= M) -> In open N -> ~ In open (training d) ->
    Z.of_nat k = Int_part (/ (1 - delta)) -> exists (P : (nat -> bool) -> R) start learned targets, chance P
      /\ different N targets k /\ (forall n p, In p N -> Rabs (targets n p) <= M)
      /\ (forall n p, In p (training d) -> targets n p = B0 p)
      /\ (forall n A, (forall p, In p (training d) -> A p = B0 p) ->
        learns same d A (fun p => p) eta (start n) (learned n))
      /\ forall n, (n < k)%nat -> 1 - delta <= P (right N learned (targets n)).
Proof.
  intros pair sample same d eta N delta H Hs sub Hdelta. split.
  - intros outcome P learned targets k [positive [sure [ext additive]]] apart each. apply at_most.
    assert (sum : forall j, (j <= k)%nat -> exists E : outcome -> bool, INR j * (1 - delta) <= P E
      /\ forall o, E o = true -> exists n, (n < j)%nat /\ right N learned (targets n) o = true).
    { induction j as [|j IH]; intros Hj.
      - exists (fun _ => false). split; [simpl; rewrite Rmult_0_l; apply positive|]. intros o E. discriminate.
      - destruct (IH ltac:(lia)) as [E [bound inside]]. exists (fun o => E o || right N learned (targets j) o). split.
        + rewrite additive, S_INR; [pose proof (each j ltac:(lia)); lra|].
          intros o HE HR. destruct (inside o HE) as [n [Hn HT]].
          destruct (apart n j Hn ltac:(lia)) as [p [Hp other]]. apply other.
          rewrite right_spec in HR, HT. rewrite <- (HT p Hp), <- (HR p Hp). reflexivity.
        + intros o HE. apply orb_true_iff in HE. destruct HE as [HE|HR].
          * destruct (inside o HE) as [n [Hn HT]]. exists n. split; [lia|exact HT].
          * exists j. split; [lia|exact HR]. }
    destruct (sum k (Nat.le_refl k)) as [E [bound _]].
    assert (all : P E <= 1).
    { rewrite <- sure. rewrite (ext (fun _ => true) (fun o => E o || negb (E o))) by (intros o; destruct (E o);
      reflexivity).
      rewrite additive by (intros o A B; destruct (E o); discriminate). pose proof (positive (fun o => negb (E o))).
      lra. }
    apply (Rmult_le_reg_r (1 - delta)); [lra|]. rewrite Rinv_l by lra. lra.
  - intros B0 M open k HM inside Hopen out count.
    assert (bound : INR k <= / (1 - delta)) by (apply at_most; rewrite count; apply Z.le_refl).
    assert (Hk : (0 < k)%nat).
    { assert (1 <= / (1 - delta)) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
      assert (one : (Z.of_nat 1 <= Int_part (/ (1 - delta)))%Z) by (apply at_most; simpl; assumption). lia. }
    assert (positive : 0 < INR k) by (apply lt_0_INR; exact Hk).
    set (start := fun (n : nat) (_ : pair) => M * / INR (S n)).
    set (learned := fun n => mean_of same d B0 (fun p => p) (start n)).
    assert (balance : forall n, balanced same d B0 (fun p => p) (start n) (learned n))
      by (intros; apply mean_is_balanced; exact H).
    assert (shown : forall n p, In p (training d) -> learned n p = B0 p).
    { intros n p Hp. apply (right_in_class _ _ _ same d B0 (fun p => p) (start n)); try assumption; [apply balance| |].
      - exists p. split; [exact Hp|reflexivity].
      - intros q _ E. rewrite E. reflexivity. }
    assert (still : forall n p, ~ In p (training d) -> learned n p = M * / INR (S n)).
    { intros n p Hp. apply (proj2 (balance n p)). intros [q [Hq E]]. subst. contradiction. }
    assert (apart : forall m n, m <> n -> learned m open <> learned n open).
    { intros m n other E. rewrite !still in E by exact out. apply Rmult_eq_reg_l in E; [|lra].
      apply (f_equal Rinv) in E. rewrite !Rinv_inv in E. apply INR_eq in E. congruence. }
    exists (fun E : nat -> bool => total (fun n : nat => if E n then 1 else 0) (seq 0 k) / INR k), start, learned,
      learned.
    split; [split; [|split; [|split]]|split; [|split; [|split; [|split]]]].
    + intros E. apply Rmult_le_pos; [apply count_positive|left; apply Rinv_0_lt_compat; exact positive].
    + rewrite total_const, seq_length. field. lra.
    + intros E F alike. rewrite (total_ext _ _ (fun n => if F n then 1 else 0)); [reflexivity|].
      intros n _. rewrite alike. reflexivity.
    + intros E F never. rewrite (total_ext _ _ (fun n => 1 * (if E n then 1 else 0) + 1 * (if F n then 1 else 0))).
      * rewrite total_linear. field. lra.
      * intros n _. specialize (never n). destruct (E n), (F n); simpl; try ring. exfalso. apply never; reflexivity.
    + intros m n Hm Hn. exists open. split; [exact Hopen|]. apply apart. lia.
    + intros n p Hp. destruct (in_dec same p (training d)) as [Hin|Hout]; [rewrite shown by exact Hin; apply inside|].
      rewrite still by exact Hout. assert (1 <= INR (S n)) by (rewrite S_INR; pose proof (pos_INR n); lra).
      assert (0 < / INR (S n) <= 1) by
        (split; [apply Rinv_0_lt_compat; lra|rewrite <- Rinv_1; apply Rinv_le_contravar; lra]).
      rewrite Rabs_pos_eq by (apply Rmult_le_pos; lra). rewrite <- (Rmult_1_r M) at 2. apply Rmult_le_compat_l; lra.
    + exact shown.
    + intros n A block. apply descent_converges; [exact H|exact Hs|]. intros k0. split.
      * intros [p [Hp E]]. rewrite (total_ext _ _ (fun x => fst x * (B0 (snd x) - learned n k0))).
        -- apply (proj1 (balance n k0)). exists p. split; assumption.
        -- intros x Hx. apply class_spec in Hx. destruct Hx as [Hx _]. rewrite block; [reflexivity|].
           apply in_weighted. exists (fst x). destruct x. exact Hx.
      * apply (proj2 (balance n k0)).
    + intros n Hn. apply Rle_trans with (1 / INR k).
      * apply (Rmult_le_reg_l (INR k)); [exact positive|]. replace (INR k * (1 / INR k)) with 1 by (field; lra).
        apply (Rmult_le_compat_r (1 - delta)) in bound; [|lra]. rewrite Rinv_l in bound by lra. lra.
      * apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact positive|].
        assert (Hin : In n (seq 0 k)) by (apply in_seq; lia). revert Hin. generalize (seq 0 k). intros l Hin.
        induction l as [|m l IH]; [contradiction|]. simpl.
        assert (rest : 0 <= total (fun n0 => if right N learned (learned n) n0 then 1 else 0) l).
        { apply total_nonnegative. intros x _. destruct (right N learned (learned n) x); lra. }
        destruct Hin as [E|Hin].
        -- subst m. replace (right N learned (learned n) n) with true by (symmetry; apply right_spec; reflexivity). lra.
        -- specialize (IH Hin). destruct (right N learned (learned n) m); lra.
Qed.
Lemma theorem_1b_twin : ~ (forall (pair sample : Type) (same : decides pair) (d : data pair sample) eta N delta,
  sound d -> small d eta -> incl (training d) N -> 0 <= delta < 1 ->
  (forall (outcome : Type) (P : (outcome -> bool) -> R) (learned : outcome -> pair -> R) targets k, chance P ->
    different N targets k -> (forall n, (n < k)%nat -> 1 - delta <= P (right N learned (targets n))) ->
    (Z.of_nat k <= 1)%Z)
  /\ forall B0 M open k, 0 < M -> (forall p, Rabs (B0 p) <= M) -> In open N -> ~ In open (training d) ->
    Z.of_nat k = Int_part (/ (1 - delta)) -> exists (P : (nat -> bool) -> R) start learned targets, chance P
      /\ different N targets k /\ (forall n p, In p N -> Rabs (targets n p) <= M)
      /\ (forall n p, In p (training d) -> targets n p = B0 p)
      /\ (forall n A, (forall p, In p (training d) -> A p = B0 p) ->
        learns same d A (fun p => p) eta (start n) (learned n))
      /\ forall n, (n < k)%nat -> 1 - delta <= P (right N learned (targets n))).
Proof.
  intros H. pose proof (basis_sound _ one_pair) as fine. pose proof (basis_small [0%nat] ltac:(simpl; lia)) as slow.
  destruct (H nat nat Nat.eq_dec (basis [0%nat]) (1 / 4) [0%nat; 1%nat] (1 / 2) fine slow first_of_two ltac:(lra))
    as [one many].
  assert (two : Z.of_nat 2 = Int_part (/ (1 - 1 / 2))).
  { apply Z.le_antisymm; [apply at_most; simpl; lra|]. destruct (base_Int_part (/ (1 - 1 / 2))) as [below _].
    apply le_IZR. simpl. lra. }
  destruct (many (fun _ => 0) 1 1%nat 2%nat) as [P [start [learned [targets [fair [apart [_ [_ [_ each]]]]]]]]];
    [lra|intros p; rewrite Rabs_R0; lra|right; left; reflexivity|intros [E|[]]; discriminate|exact two|].
  specialize (one nat P learned targets 2%nat fair apart each). simpl in one. lia.
Qed.

(* Boxes: lower end and side of each coordinate. A point is the list of its coordinates. *)
Definition box := list (R * R).
Fixpoint volume (b : box) : R := match b with [] => 1 | (_, side) :: r => side * volume r end.
Definition in_box (b : box) (x : list R) : Prop := Forall2 (fun side t => fst side <= t <= fst side + snd side) b x.
Definition covers (D : nat) (boxes : list box) (S : list R -> Prop) : Prop :=
  (forall b, In b boxes -> length b = D /\ forall side, In side b -> 0 <= snd side)
  /\ forall x, S x -> exists b, In b boxes /\ in_box b x.
(* Volume of a finite union of boxes: the greatest lower bound of the volumes of finitely many boxes that cover it. *)
Definition has_volume (D : nat) (S : list R -> Prop) (v : R) : Prop :=
  (forall boxes, covers D boxes S -> v <= total volume boxes)
  /\ forall w, (forall boxes, covers D boxes S -> w <= total volume boxes) -> w <= v.
(* Cube around a centre; two centres are apart if they differ by a side in some coordinate. *)
Definition cube (radius : R) (centre : list R) : box := map (fun c => (c - radius, 2 * radius)) centre.
Definition apart (radius : R) (c k : list R) : Prop :=
  exists i, (i < length c)%nat /\ 2 * radius <= Rabs (nth i c 0 - nth i k 0).

(* Numbers of grid points. *)
Definition closed (side : R * R) (t : R) : R :=
  if Rle_dec (fst side) t then if Rle_dec t (fst side + snd side) then 1 else 0 else 0.
Definition half_open (side : R * R) (t : R) : R :=
  if Rle_dec (fst side) t then if Rlt_dec t (fst side + snd side) then 1 else 0 else 0.
Fixpoint inside (on : R * R -> R -> R) (b : box) (x : list R) : R :=
  match b, x with side :: r, t :: y => on side t * inside on r y | _, _ => 1 end.
Fixpoint grid_volume (on : R * R -> R -> R) (grid : list R) (b : box) : R :=
  match b with [] => 1 | side :: r => total (on side) grid * grid_volume on grid r end.
Lemma total_flat_map : forall (A B : Type) (f : B -> R) (g : A -> list B) l,
  total f (flat_map g l) = total (fun x => total f (g x)) l.
Proof. intros. induction l as [|x l IH]; simpl; [reflexivity|]. rewrite total_app, IH. reflexivity. Qed.
Lemma points_in_box : forall on grid b, total (inside on b) (words grid (length b)) = grid_volume on grid b.
Proof.
  intros on grid b. induction b as [|side r IH]; [simpl; ring|].
  cbn [length words]. rewrite total_flat_map.
  rewrite (total_ext _ _ (fun w => total (on side) grid * inside on r w)).
  - rewrite total_scale, IH. reflexivity.
  - intros w _. rewrite total_map. cbn [inside].
    rewrite (total_ext _ _ (fun t => inside on r w * on side t)) by (intros; ring). rewrite total_scale. ring.
Qed.
Definition grid (n m : nat) : list R := map (fun i => (INR i - INR m) / INR n) (seq 0 (S (2 * m))).

Lemma total_snoc : forall f m, total f (seq 0 (S m)) = total f (seq 0 m) + f m.
Proof. intros. rewrite seq_S, total_app. simpl. ring. Qed.
Lemma few_closed : forall x y m, x <= y + 1 ->
  total (fun i => closed (x, y - x) (INR i)) (seq 0 m) <= Rmax 0 (Rmin y (INR m - 1) - x + 1).
Proof.
  intros x y m le. induction m as [|m IH]; [simpl; apply Rmax_l|].
  rewrite total_snoc, S_INR. unfold closed. simpl fst; simpl snd. replace (x + (y - x)) with y by ring.
  unfold Rmax, Rmin in *. unfold closed in IH. simpl fst in IH; simpl snd in IH.
  replace (x + (y - x)) with y in IH by ring.
  repeat destruct Rle_dec; lra.
Qed.
Lemma many_half_open : forall x y m, 0 <= x ->
  Rmin y (INR m) - x - 1 <= total (fun i => half_open (x, y - x) (INR i)) (seq 0 m).
Proof.
  intros x y m Hx. induction m as [|m IH]; [simpl; unfold Rmin; destruct Rle_dec; lra|].
  rewrite total_snoc, S_INR. unfold half_open in *. simpl fst in *; simpl snd in *.
  replace (x + (y - x)) with y in * by ring.
  assert (0 <= total (fun i => if Rle_dec x (INR i) then if Rlt_dec (INR i) y then 1 else 0 else 0) (seq 0 m)).
  { apply total_nonnegative. intros i _. destruct (Rle_dec x (INR i)); [destruct (Rlt_dec (INR i) y)|]; lra. }
  unfold Rmin in *. repeat destruct Rle_dec; repeat destruct Rlt_dec; lra.
Qed.
Lemma on_grid : forall on a s n m,
  (forall c k, 0 < c -> forall t, on (a, s) t = on (c * a + k, c * s) (c * t + k)) -> (0 < n)%nat ->
  total (on (a, s)) (grid n m) = total (fun i => on (INR n * a + INR m, INR n * s) (INR i)) (seq 0 (S (2 * m))).
Proof.
  intros on a s n m moves pos. unfold grid. rewrite total_map. apply total_ext. intros i _.
  assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
  rewrite (moves (INR n) (INR m) Hn). f_equal. field. lra.
Qed.
Lemma closed_moves : forall a s c k, 0 < c -> forall t, closed (a, s) t = closed (c * a + k, c * s) (c * t + k).
Proof. intros a s c k Hc t. unfold closed. simpl. repeat destruct Rle_dec; try reflexivity; exfalso; nra. Qed.
Lemma half_open_moves : forall a s c k, 0 < c -> forall t,
  half_open (a, s) t = half_open (c * a + k, c * s) (c * t + k).
Proof.
  intros a s c k Hc t. unfold half_open. simpl.
  repeat destruct Rle_dec; repeat destruct Rlt_dec; try reflexivity; exfalso; nra.
Qed.
Lemma grid_closed : forall a s n m, 0 <= s -> (0 < n)%nat -> total (closed (a, s)) (grid n m) <= INR n * (s + / INR n).
Proof.
  intros a s n m Hs pos. rewrite (on_grid closed) by (try apply closed_moves; exact pos).
  assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
  set (x := INR n * a + INR m). replace (INR n * s) with (x + INR n * s - x) by ring.
  assert (0 <= INR n * s) by (apply Rmult_le_pos; lra).
  apply Rle_trans with (1 := few_closed x (x + INR n * s) (S (2 * m)) ltac:(lra)).
  replace (INR n * (s + / INR n)) with (INR n * s + 1) by (field; lra).
  unfold Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.
Lemma grid_half_open : forall a s n m, 0 <= s -> (0 < n)%nat -> INR n * (Rabs a + s) <= INR m ->
  INR n * (s - / INR n) <= total (half_open (a, s)) (grid n m).
Proof.
  intros a s n m Hs pos wide. rewrite (on_grid half_open) by (try apply half_open_moves; exact pos).
  assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
  set (x := INR n * a + INR m). replace (INR n * s) with (x + INR n * s - x) by ring.
  assert (- (INR n * Rabs a) <= INR n * a <= INR n * Rabs a) as near.
  { pose proof (Rle_abs a). pose proof (Rle_abs (- a)) as H'. rewrite Rabs_Ropp in H'. split; nra. }
  assert (0 <= INR n * s) by (apply Rmult_le_pos; lra).
  assert (0 <= x) as Hx by (unfold x; nra).
  apply Rle_trans with (2 := many_half_open x (x + INR n * s) (S (2 * m)) Hx).
  rewrite S_INR, mult_INR. simpl (INR 2). replace (INR n * (s - / INR n)) with (INR n * s - 1) by (field; lra).
  unfold Rmin, x in *. destruct Rle_dec; nra.
Qed.

Definition wider (h : R) (b : box) : box := map (fun side => (fst side, snd side + h)) b.
Lemma grid_volume_closed : forall n m b, (0 < n)%nat -> (forall side, In side b -> 0 <= snd side) ->
  0 <= grid_volume closed (grid n m) b <= INR n ^ length b * volume (wider (/ INR n) b).
Proof.
  intros n m b pos. assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
  pose proof (Rinv_0_lt_compat _ Hn). induction b as [|[a s] r IH]; intros sides; [simpl; lra|].
  destruct IH as [low high]; [intros side Hin; apply sides; right; exact Hin|].
  pose proof (sides (a, s) (or_introl eq_refl)) as Hs. simpl in Hs.
  pose proof (grid_closed a s n m Hs pos) as here.
  assert (0 <= total (closed (a, s)) (grid n m)).
  { apply total_nonnegative. intros t _. unfold closed. repeat destruct Rle_dec; lra. }
  cbn [grid_volume]. split; [apply Rmult_le_pos; assumption|].
  simpl length. simpl pow. simpl wider. cbn [volume fst snd].
  replace (INR n * INR n ^ length r * ((s + / INR n) * volume (wider (/ INR n) r)))
    with ((INR n * (s + / INR n)) * (INR n ^ length r * volume (wider (/ INR n) r))) by ring.
  apply Rmult_le_compat; assumption.
Qed.
Lemma grid_volume_cube : forall n m radius c, (0 < n)%nat -> / INR n <= 2 * radius ->
  List.Forall (fun t => INR n * (Rabs (t - radius) + 2 * radius) <= INR m) c ->
  INR n ^ length c * (2 * radius - / INR n) ^ length c <= grid_volume half_open (grid n m) (cube radius c).
Proof.
  intros n m radius c pos fine wide. assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
  pose proof (Rinv_0_lt_compat _ Hn).
  induction wide as [|t c here wide IH]; [simpl; lra|].
  simpl length. simpl cube. cbn [grid_volume]. simpl pow.
  pose proof (grid_half_open (t - radius) (2 * radius) n m ltac:(lra) pos here) as one.
  replace (INR n * INR n ^ length c * ((2 * radius - / INR n) * (2 * radius - / INR n) ^ length c))
    with ((INR n * (2 * radius - / INR n)) * (INR n ^ length c * (2 * radius - / INR n) ^ length c)) by ring.
  apply Rmult_le_compat; [|apply Rmult_le_pos; apply pow_le; lra|exact one|exact IH].
  apply Rmult_le_pos; lra.
Qed.

Lemma inside_closed : forall b x, 0 <= inside closed b x /\ (in_box b x -> 1 <= inside closed b x).
Proof.
  intros b. induction b as [|[a s] r IH]; intros [|t y]; simpl; try (split; [lra|intros; lra]).
  destruct (IH y) as [low high]. set (rest := inside closed r y) in *. unfold closed. simpl. repeat destruct Rle_dec.
  - split; [lra|]. intros H. inversion H; subst. rewrite Rmult_1_l. apply high. assumption.
  - split; [lra|]. intros H. inversion H; subst. simpl in *. lra.
  - split; [lra|]. intros H. inversion H; subst. simpl in *. lra.
Qed.
Lemma inside_half_open : forall radius c x, length x = length c ->
  inside half_open (cube radius c) x = 0
  \/ (inside half_open (cube radius c) x = 1
      /\ forall i, (i < length c)%nat -> nth i c 0 - radius <= nth i x 0 < nth i c 0 + radius).
Proof.
  intros radius c. induction c as [|t c IH]; intros [|y x] len; try discriminate.
  - right. split; [reflexivity|]. simpl. intros. lia.
  - simpl cube. cbn [inside]. unfold half_open at 1 3. simpl fst; simpl snd.
    destruct (Rle_dec (t - radius) y); [|left; lra]. destruct (Rlt_dec y (t - radius + 2 * radius)); [|left; lra].
    destruct (IH x) as [none|[one here]]; [simpl in len; lia|left; rewrite none; lra|].
    right. split; [rewrite one; lra|]. intros [|i] lt; simpl; [lra|]. apply here. simpl in lt. lia.
Qed.
Lemma in_cube : forall radius c x, length x = length c ->
  (forall i, (i < length c)%nat -> nth i c 0 - radius <= nth i x 0 <= nth i c 0 + radius) -> in_box (cube radius c) x.
Proof.
  intros radius c. induction c as [|t c IH]; intros [|y x] len here; try discriminate; [constructor|].
  constructor.
  - simpl. pose proof (here 0%nat ltac:(simpl; lia)) as H. simpl in H. lra.
  - apply IH; [simpl in len; lia|]. intros i lt. apply (here (S i)). simpl. lia.
Qed.
Lemma one_cube : forall radius D centres x, ForallOrdPairs (apart radius) centres ->
  (forall c, In c centres -> length c = D) -> length x = D ->
  total (fun c => inside half_open (cube radius c) x) centres <= 1
  /\ (total (fun c => inside half_open (cube radius c) x) centres = 0
      \/ exists c, In c centres /\ in_box (cube radius c) x).
Proof.
  intros radius D centres x far. induction far as [|c centres away far IH]; intros lengths len; [simpl; lra|].
  destruct IH as [most some]; [intros k Hk; apply lengths; right; exact Hk|exact len|].
  pose proof (lengths c (or_introl eq_refl)) as Hc. simpl total.
  destruct (inside_half_open radius c x) as [none|[one here]]; [congruence| |].
  - rewrite none, Rplus_0_l. split; [exact most|]. destruct some as [zero|[k [Hk inside_k]]]; [left; exact zero|right].
    exists k. split; [right; exact Hk|exact inside_k].
  - assert (total (fun k => inside half_open (cube radius k) x) centres = 0) as rest.
    { apply total_zero. intros k Hk. rewrite Forall_forall in away. destruct (away k Hk) as [i [lt gap]].
      destruct (inside_half_open radius k x) as [none|[_ there]]; [|exact none|].
      - rewrite len. symmetry. apply lengths. right. exact Hk.
      - exfalso. pose proof (here i lt).
        pose proof (there i ltac:(rewrite (lengths k (or_intror Hk)), <- Hc; exact lt)).
        unfold Rabs in gap. destruct Rcase_abs; lra. }
    rewrite one, rest. split; [lra|right]. exists c. split; [left; reflexivity|].
    apply in_cube; [congruence|]. intros i lt. pose proof (here i lt). lra.
Qed.
Lemma total_swap : forall (A B : Type) (f : A -> B -> R) l m,
  total (fun x => total (f x) m) l = total (fun y => total (fun x => f x y) l) m.
Proof.
  intros A B f l m. induction l as [|x l IH]; simpl.
  - symmetry. apply total_zero. reflexivity.
  - rewrite IH. clear IH. induction m as [|y m IHm]; simpl; [ring|]. rewrite <- IHm. ring.
Qed.
Lemma total_least : forall (A : Type) (f : A -> R) l x, (forall y, In y l -> 0 <= f y) -> In x l -> f x <= total f l.
Proof.
  intros A f l x nonnegative Hx. induction l as [|y l IH]; [contradiction|]. simpl.
  assert (0 <= total f l) by (apply total_nonnegative; intros z Hz; apply nonnegative; right; exact Hz).
  destruct Hx as [E|Hx]; [subst; lra|].
  assert (f x <= total f l) by (apply IH; [intros z Hz; apply nonnegative; right; exact Hz|exact Hx]).
  pose proof (nonnegative y (or_introl eq_refl)). lra.
Qed.
Lemma wide_enough : forall n radius centres, exists m, forall c, In c centres ->
  List.Forall (fun t => INR n * (Rabs (t - radius) + 2 * radius) <= INR m) c.
Proof.
  intros n radius centres.
  assert (one : forall x, exists m, x <= INR m).
  { intros x. destruct (Rle_lt_dec x 0) as [neg|pos]; [exists 0%nat; simpl; exact neg|].
    destruct (archimed_cor1 (/ x) (Rinv_0_lt_compat _ pos)) as [m [Hm Hpos]]. exists m. left.
    apply Rinv_lt_cancel; [apply lt_0_INR; exact Hpos|exact Hm]. }
  assert (more : forall (k m : nat) x, x <= INR k -> x <= INR (k + m)).
  { intros k m x le. rewrite plus_INR. pose proof (pos_INR m). lra. }
  assert (point : forall c, exists m, List.Forall (fun t => INR n * (Rabs (t - radius) + 2 * radius) <= INR m) c).
  { intros c. induction c as [|t c [m IH]]; [exists 0%nat; constructor|].
    destruct (one (INR n * (Rabs (t - radius) + 2 * radius))) as [k Hk]. exists (k + m)%nat. constructor.
    - apply more. exact Hk.
    - eapply Forall_impl; [|exact IH]. intros u Hu. simpl in Hu. rewrite Nat.add_comm. apply more. exact Hu. }
  induction centres as [|c centres [m IH]]; [exists 0%nat; intros c []|].
  destruct (point c) as [k Hk]. exists (k + m)%nat. intros u [E|Hu].
  - subst. eapply Forall_impl; [|exact Hk]. intros t Ht. apply more. exact Ht.
  - eapply Forall_impl; [|exact (IH u Hu)]. intros t Ht. simpl in Ht. rewrite Nat.add_comm. apply more. exact Ht.
Qed.
Lemma on_a_grid : forall radius D centres boxes S n, 0 < radius -> ForallOrdPairs (apart radius) centres ->
  (forall c, In c centres -> length c = D) -> covers D boxes S ->
  (forall c x, In c centres -> in_box (cube radius c) x -> S x) -> (0 < n)%nat -> / INR n <= 2 * radius ->
  INR (length centres) * (2 * radius - / INR n) ^ D <= total (fun b => volume (wider (/ INR n) b)) boxes.
Proof.
  intros radius D centres boxes S n Hr far lengths [sides covered] holds pos fine.
  assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
  destruct (wide_enough n radius centres) as [m wide].
  apply (Rmult_le_reg_l (INR n ^ D)); [apply pow_lt; exact Hn|].
  apply Rle_trans with (total (fun c => grid_volume half_open (grid n m) (cube radius c)) centres).
  { replace (INR n ^ D * (INR (length centres) * (2 * radius - / INR n) ^ D))
      with (total (fun _ : list R => INR n ^ D * (2 * radius - / INR n) ^ D) centres).
    - apply total_mono. intros c Hc. rewrite <- (lengths c Hc). apply grid_volume_cube; auto.
    - clear. induction centres as [|c centres IH]; [simpl; ring|]. simpl total. rewrite IH. simpl length.
      rewrite S_INR. ring. }
  rewrite (total_ext _ _ (fun c => total (inside half_open (cube radius c)) (words (grid n m) D))).
  2: { intros c Hc. rewrite <- (lengths c Hc). rewrite <- points_in_box. unfold cube at 2. rewrite map_length.
       reflexivity. }
  rewrite total_swap.
  apply Rle_trans with (total (fun x => total (fun b => inside closed b x) boxes) (words (grid n m) D)).
  { apply total_mono. intros x Hx. apply words_spec in Hx. destruct Hx as [len _].
    destruct (one_cube radius D centres x far lengths len) as [most [zero|[c [Hc Hin]]]].
    - rewrite zero. apply total_nonnegative. intros b _. apply inside_closed.
    - apply Rle_trans with (1 := most). destruct (covered x (holds c x Hc Hin)) as [b [Hb here]].
      apply Rle_trans with (inside closed b x); [apply inside_closed; exact here|].
      apply (total_least _ (fun b => inside closed b x)); [|exact Hb]. intros. apply inside_closed. }
  rewrite <- total_swap, <- total_scale. apply total_mono. intros b Hb. destruct (sides b Hb) as [len nonnegative].
  rewrite <- len. rewrite points_in_box. apply grid_volume_closed; assumption.
Qed.

Lemma continuous_power : forall x D, continuity_pt (fun h => (x - h) ^ D) 0.
Proof.
  intros x D. induction D as [|D IH]; simpl; [apply continuity_pt_const; intros ? ?; reflexivity|].
  apply continuity_pt_mult; [|exact IH].
  apply continuity_pt_minus; [apply continuity_pt_const; intros ? ?; reflexivity|apply continuity_pt_id].
Qed.
Lemma continuous_volume : forall b, continuity_pt (fun h => volume (wider h b)) 0.
Proof.
  intros b. induction b as [|[a s] r IH]; simpl; [apply continuity_pt_const; intros ? ?; reflexivity|].
  apply continuity_pt_mult; [|exact IH].
  apply continuity_pt_plus; [apply continuity_pt_const; intros ? ?; reflexivity|apply continuity_pt_id].
Qed.
Lemma wider_by_0 : forall b, wider 0 b = b.
Proof.
  intros b. induction b as [|[a s] r IH]; simpl; [reflexivity|]. f_equal; [|exact IH]. f_equal. ring.
Qed.
Lemma total_continuous : forall boxes, continuity_pt (fun h => total (fun b => volume (wider h b)) boxes) 0.
Proof.
  intros boxes. induction boxes as [|b boxes IH]; simpl; [apply continuity_pt_const; intros ? ?; reflexivity|].
  apply continuity_pt_plus; [apply continuous_volume|exact IH].
Qed.
(* Cubes apart from each other have the sum of their volumes, at least. *)
Lemma volumes_add : forall radius D centres boxes S, 0 < radius -> ForallOrdPairs (apart radius) centres ->
  (forall c, In c centres -> length c = D) -> covers D boxes S ->
  (forall c x, In c centres -> in_box (cube radius c) x -> S x) ->
  INR (length centres) * (2 * radius) ^ D <= total volume boxes.
Proof.
  intros radius D centres boxes S Hr far lengths covered holds. apply Rnot_lt_le. intros less.
  set (gap := fun h => total (fun b => volume (wider h b)) boxes - INR (length centres) * (2 * radius - h) ^ D).
  assert (continuity_pt gap 0) as steady.
  { unfold gap. apply continuity_pt_minus; [apply total_continuous|].
    apply continuity_pt_mult; [apply continuity_pt_const; intros ? ?; reflexivity|apply continuous_power]. }
  assert (gap 0 < 0) as negative.
  { unfold gap. rewrite Rminus_0_r. rewrite (total_ext _ _ volume) by (intros; rewrite wider_by_0; reflexivity). lra. }
  destruct (steady (- gap 0)) as [delta [Hd near]]; [lra|].
  destruct (archimed_cor1 (Rmin delta (2 * radius))) as [n [Hn pos]].
  { unfold Rmin. destruct Rle_dec; lra. }
  assert (/ INR n < delta /\ / INR n < 2 * radius) as [close fine] by (unfold Rmin in Hn; destruct Rle_dec; lra).
  assert (0 < / INR n) as small by (apply Rinv_0_lt_compat, lt_0_INR; exact pos).
  pose proof (on_a_grid radius D centres boxes S n Hr far lengths covered holds pos ltac:(lra)) as grid_says.
  assert (Rabs (gap (/ INR n) - gap 0) < - gap 0) as moved_little.
  { apply near. split; [split; [exact I|lra]|]. simpl. unfold R_dist. rewrite Rminus_0_r, Rabs_right; lra. }
  assert (0 <= gap (/ INR n)) by (unfold gap; lra).
  unfold Rabs in moved_little. destruct Rcase_abs; lra.
Qed.

Lemma volume_exists : forall D S boxes, covers D boxes S -> exists v, has_volume D S v.
Proof.
  intros D S boxes cover.
  assert (least : forall bs, covers D bs S -> 0 <= total volume bs).
  { intros bs [sides _]. apply total_nonnegative. intros b Hb. destruct (sides b Hb) as [_ nonnegative]. clear Hb.
    induction b as [|[a s] r IH]; simpl; [lra|].
    apply Rmult_le_pos; [apply (nonnegative (a, s)); left; reflexivity|]. apply IH. intros side Hin.
    apply nonnegative. right. exact Hin. }
  destruct (completeness (fun x => exists bs, covers D bs S /\ x = - total volume bs)) as [m [above lowest]].
  - exists 0. intros x [bs [Hbs E]]. pose proof (least bs Hbs). lra.
  - exists (- total volume boxes), boxes. split; [exact cover|reflexivity].
  - exists (- m). split.
    + intros bs Hbs. assert (- total volume bs <= m) by (apply above; exists bs; split; [exact Hbs|reflexivity]). lra.
    + intros w below. assert (m <= - w); [|lra]. apply lowest. intros x [bs [Hbs E]]. pose proof (below bs Hbs). lra.
Qed.
Lemma volume_is_one : forall D S v w, has_volume D S v -> has_volume D S w -> v = w.
Proof. intros D S v w [low high] [low' high']. apply Rle_antisym; [apply high'; exact low|apply high; exact low']. Qed.
Lemma volume_of_cube : forall radius c, volume (cube radius c) = (2 * radius) ^ length c.
Proof. intros radius c. induction c as [|t c IH]; simpl; [reflexivity|]. rewrite IH. ring. Qed.
Lemma cubes_volume : forall radius D centres, (forall c, In c centres -> length c = D) ->
  total volume (map (cube radius) centres) = INR (length centres) * (2 * radius) ^ D.
Proof.
  intros radius D centres. induction centres as [|c centres IH]; intros lengths; [simpl; ring|].
  cbn [map total]. rewrite volume_of_cube, IH by (intros k Hk; apply lengths; right; exact Hk).
  rewrite (lengths c (or_introl eq_refl)). simpl length. rewrite S_INR. ring.
Qed.
Lemma cubes_cover : forall radius D centres (S : list R -> Prop), 0 <= radius ->
  (forall c, In c centres -> length c = D) ->
  (forall x, S x -> exists c, In c centres /\ in_box (cube radius c) x) -> covers D (map (cube radius) centres) S.
Proof.
  intros radius D centres S Hr lengths some. split.
  - intros b Hb. apply in_map_iff in Hb. destruct Hb as [c [E Hc]]. subst. unfold cube. rewrite map_length.
    split; [apply lengths; exact Hc|]. intros side Hs. apply in_map_iff in Hs. destruct Hs as [t [E _]]. subst.
    simpl. lra.
  - intros x Hx. destruct (some x Hx) as [c [Hc Hin]]. exists (cube radius c). split; [|exact Hin].
    apply in_map. exact Hc.
Qed.
(* Cubes apart from each other that fill a set have the sum of their volumes. *)
Lemma volume_of_cubes : forall radius D centres (S : list R -> Prop), 0 < radius ->
  ForallOrdPairs (apart radius) centres ->
  (forall c, In c centres -> length c = D) ->
  (forall x, S x <-> exists c, In c centres /\ in_box (cube radius c) x) ->
  has_volume D S (INR (length centres) * (2 * radius) ^ D).
Proof.
  intros radius D centres S Hr far lengths filled. split.
  - intros boxes cover. apply (volumes_add radius D centres boxes S); try assumption.
    intros c x Hc Hx. apply filled. exists c. split; assumption.
  - intros w below. rewrite <- (cubes_volume radius D centres lengths). apply below. apply cubes_cover;
      [lra|exact lengths|]. intros x Hx. apply filled. exact Hx.
Qed.

Lemma named : forall (pair : Type) (equal : decides pair) (free : list pair) x, NoDup free -> length x = length free ->
  exists f : pair -> R, map f free = x.
Proof.
  intros pair equal free x different. revert x. induction different as [|p free out different IH]; intros [|t x] len;
    try discriminate; [exists (fun _ => 0); reflexivity|].
  destruct (IH x) as [f Hf]; [simpl in len; lia|]. exists (fun q => if equal q p then t else f q). simpl.
  destruct (equal p p) as [_|ne]; [|congruence]. f_equal. rewrite <- Hf. apply map_ext_in. intros q Hq.
  destruct (equal q p) as [E|_]; [subst; contradiction|reflexivity].
Qed.
Lemma in_cube_of : forall (pair : Type) radius (centre A : pair -> R) free,
  in_box (cube radius (map centre free)) (map A free) <-> forall p, In p free -> Rabs (A p - centre p) <= radius.
Proof.
  intros pair radius centre A free. induction free as [|p free IH]; simpl.
  - split; [intros _ p []|constructor].
  - split.
    + intros H. inversion H; subst. simpl in *. intros q [E|Hq]; [subst; apply Rabs_le; lra|]. apply IH; assumption.
    + intros near. constructor; [|apply IH; intros q Hq; apply near; right; exact Hq]. simpl.
      pose proof (near p (or_introl eq_refl)) as Hp. apply Rabs_le_between in Hp. lra.
Qed.
Lemma box_length : forall b x, in_box b x -> length x = length b.
Proof. intros b x H. induction H; simpl; congruence. Qed.

(* Theorem 1 (1c): of the targets with the block B0 and entries up to M, where D entries are free, those that a family
   of relations learns within eps in every entry are a cube of side 2 eps for each relation that fits the block, cut by
   the cube of all targets. They have at most the share |Phi| (eps / M)^D of its volume; and just this share if each
   relation fits the block, and their cubes lie inside and apart (claim pola-1c). *)
Theorem theorem_1c : forall (pair sample label : Type) (same : decides label) (equal : decides pair)
  (d : data pair sample) eta start free B0 M eps (family : list (pair -> label)) learned,
  sound d -> small d eta -> 0 < M -> 0 < eps -> NoDup free -> (forall p, In p free -> ~ In p (training d)) ->
  (forall p, In p (training d) -> Rabs (B0 p) <= M) ->
  (forall phi, In phi family -> learns same d B0 phi eta start (learned phi)) ->
  let N := training d ++ free in
  let target A := (forall p, In p (training d) -> A p = B0 p) /\ forall p, In p N -> Rabs (A p) <= M in
  let reached A := target A /\ exists phi limit, In phi family /\ learns same d A phi eta start limit
    /\ forall p, In p N -> Rabs (limit (phi p) - A p) <= eps in
  let points S x := exists A, S A /\ x = map A free in
  let D := length free in
  (forall x, points reached x <-> length x = D /\ (forall t, In t x -> Rabs t <= M) /\ exists phi, In phi family
      /\ (forall p, In p (training d) -> Rabs (learned phi (phi p) - B0 p) <= eps)
      /\ in_box (cube eps (map (fun p => learned phi (phi p)) free)) x)
  /\ has_volume D (points target) ((2 * M) ^ D)
  /\ (exists v, has_volume D (points reached) v /\ v / (2 * M) ^ D <= INR (length family) * (eps / M) ^ D)
  /\ ((forall phi p, In phi family -> In p (training d) -> Rabs (learned phi (phi p) - B0 p) <= eps) ->
      (forall phi p, In phi family -> In p free -> Rabs (learned phi (phi p)) + eps <= M) ->
      ForallOrdPairs (fun phi psi => exists p, In p free
        /\ 2 * eps <= Rabs (learned phi (phi p) - learned psi (psi p))) family ->
      exists v, has_volume D (points reached) v /\ v / (2 * M) ^ D = INR (length family) * (eps / M) ^ D).
Proof.
  intros pair sample label same equal d eta start free B0 M eps family learned H Hs HM He different beyond block fits
    N target reached points D.
  assert (0 < (2 * M) ^ D) as whole by (apply pow_lt; lra).
  assert (share : INR (length family) * (2 * eps) ^ D / (2 * M) ^ D = INR (length family) * (eps / M) ^ D).
  { replace (2 * eps) with (eps / M * (2 * M)) by (field; lra). rewrite Rpow_mult_distr. field. lra. }
  set (centres := map (fun phi => map (fun p => learned phi (phi p)) free) family).
  assert (lengths : forall c, In c centres -> length c = D).
  { intros c Hc. apply in_map_iff in Hc. destruct Hc as [phi [E _]]. subst. apply map_length. }
  assert (count : length centres = length family) by apply map_length.
  assert (exactly : forall phi A limit k, In phi family -> (forall p, In p (training d) -> A p = B0 p) ->
    learns same d A phi eta start limit -> limit k = learned phi k).
  { intros phi A limit k Hphi agree learns_A. pose proof (fits phi Hphi) as learns_B.
    apply (descent_converges _ _ _ same d A phi eta start H Hs) in learns_A.
    apply (descent_converges _ _ _ same d B0 phi eta start H Hs) in learns_B.
    apply (balanced_is_unique _ _ _ same d A B0 phi start); assumption. }
  assert (back : forall x, length x = D -> exists A, (forall p, In p (training d) -> A p = B0 p) /\ x = map A free).
  { intros x len. destruct (named pair equal free x different len) as [f Hf].
    exists (fun p => if in_dec equal p (training d) then B0 p else f p). split.
    - intros p Hp. destruct (in_dec equal p (training d)); [reflexivity|contradiction].
    - rewrite <- Hf. apply map_ext_in. intros p Hp. destruct (in_dec equal p (training d)) as [Hin|_];
      [exfalso; apply (beyond p Hp Hin)|reflexivity]. }
  assert (bounded : forall A, (forall p, In p (training d) -> A p = B0 p) -> (forall p, In p free -> Rabs (A p) <= M) ->
    target A).
  { intros A agree small. split; [exact agree|]. intros p Hp. apply in_app_or in Hp. destruct Hp as [Hp|Hp].
    - rewrite (agree p Hp). apply block. exact Hp.
    - apply small. exact Hp. }
  assert (cover : covers D (map (cube eps) centres) (points reached)).
  { apply cubes_cover; [lra|exact lengths|]. intros x [A [[[agree _] [phi [limit [Hphi [learns_A near]]]]] E]]. subst.
    exists (map (fun p => learned phi (phi p)) free).
    split; [apply (in_map (fun psi => map (fun p => learned psi (psi p)) free)); exact Hphi|].
    apply in_cube_of. intros p Hp. rewrite <- (exactly phi A limit (phi p) Hphi agree learns_A), Rabs_minus_sym.
    apply near. apply in_or_app. right. exact Hp. }
  assert (which : forall x, points reached x <-> length x = D /\ (forall t, In t x -> Rabs t <= M)
    /\ exists phi, In phi family /\ (forall p, In p (training d) -> Rabs (learned phi (phi p) - B0 p) <= eps)
      /\ in_box (cube eps (map (fun p => learned phi (phi p)) free)) x).
  { intros x. split.
    + intros [A [[[agree small] [phi [limit [Hphi [learns_A near]]]]] E]]. subst. split; [apply map_length|]. split.
      * intros t Ht. apply in_map_iff in Ht. destruct Ht as [p [E Hp]]. subst. apply small. apply in_or_app. right.
        exact Hp.
      * exists phi. split; [exact Hphi|]. split.
        -- intros p Hp. rewrite <- (agree p Hp), <- (exactly phi A limit (phi p) Hphi agree learns_A). apply near.
           apply in_or_app. left. exact Hp.
        -- apply in_cube_of. intros p Hp. rewrite <- (exactly phi A limit (phi p) Hphi agree learns_A), Rabs_minus_sym.
           apply near. apply in_or_app. right. exact Hp.
    + intros [len [small [phi [Hphi [fit Hin]]]]]. destruct (back x len) as [A [agree E]]. subst.
      exists A. split; [|reflexivity]. split.
      * apply bounded; [exact agree|]. intros p Hp. apply small. apply in_map. exact Hp.
      * exists phi, (mean_of same d A phi start). split; [exact Hphi|].
        pose proof (learned_exists _ _ _ same d A phi eta start H Hs) as learns_A. split; [exact learns_A|].
        intros p Hp. rewrite (exactly phi A _ (phi p) Hphi agree learns_A). apply in_app_or in Hp.
        destruct Hp as [Hp|Hp]; [rewrite (agree p Hp); apply fit; exact Hp|]. rewrite Rabs_minus_sym.
        exact (proj1 (in_cube_of pair eps (fun q => learned phi (phi q)) A free) Hin p Hp). }
  split; [exact which|split; [|split]].
  - replace ((2 * M) ^ D) with (INR (length [map (fun _ : pair => 0) free]) * (2 * M) ^ D) by (simpl; ring).
    apply volume_of_cubes; [exact HM|constructor; [constructor|constructor]|intros c [E|[]]; subst; apply map_length|].
    intros x. split.
    + intros [A [[_ small] E]]. subst. exists (map (fun _ => 0) free). split; [left; reflexivity|].
      apply in_cube_of. intros p Hp. rewrite Rminus_0_r. apply small. apply in_or_app. right. exact Hp.
    + intros [c [[E|[]] Hin]]. subst. destruct (back x) as [A [agree E]].
      { rewrite (box_length _ _ Hin). unfold cube. rewrite !map_length. reflexivity. }
      exists A. split; [|exact E]. apply bounded; [exact agree|]. intros p Hp. subst.
      pose proof (proj1 (in_cube_of pair M (fun _ => 0) A free) Hin p Hp) as near.
      rewrite Rminus_0_r in near. exact near.
  - destruct (volume_exists D (points reached) _ cover) as [v Hv]. exists v. split; [exact Hv|].
    rewrite <- share. unfold Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact whole|].
    rewrite <- count, <- (cubes_volume eps D centres lengths). apply (proj1 Hv). exact cover.
  - intros fit inside_cube far. exists (INR (length family) * (2 * eps) ^ D). split; [|exact share].
    rewrite <- count. apply volume_of_cubes; [exact He| |exact lengths|].
    + unfold centres. clear -far. induction far as [|phi family away far IH]; simpl; constructor; [|exact IH].
      apply Forall_forall. intros c Hc. apply in_map_iff in Hc. destruct Hc as [psi [E Hpsi]]. subst.
      rewrite Forall_forall in away. destruct (away psi Hpsi) as [p [Hp gap]].
      destruct (In_nth free p p Hp) as [i [lt E]]. exists i. rewrite map_length. split; [exact lt|].
      rewrite (nth_indep _ 0 (learned phi (phi p))) by (rewrite map_length; exact lt).
      rewrite (map_nth (fun q => learned phi (phi q))).
      rewrite (nth_indep _ 0 (learned psi (psi p))) by (rewrite map_length; exact lt).
      rewrite (map_nth (fun q => learned psi (psi q))), E. exact gap.
    + intros x. split.
      * intros Hx. destruct (proj2 cover x Hx) as [b [Hb Hin]]. apply in_map_iff in Hb. destruct Hb as [c [E Hc]].
        subst. exists c. split; assumption.
      * intros [c [Hc Hin]]. apply in_map_iff in Hc. destruct Hc as [phi [E Hphi]]. subst c. apply which.
        assert (length x = D) as len by (rewrite (box_length _ _ Hin); unfold cube; rewrite !map_length; reflexivity).
        split; [exact len|split]; [|exists phi; split; [exact Hphi|split; [intros p; apply fit; exact Hphi|exact Hin]]].
        destruct (back x len) as [A [_ E]]. subst x. intros t Ht. apply in_map_iff in Ht.
        destruct Ht as [p [E Hp]]. subst t. pose proof (inside_cube phi p Hphi Hp) as small.
        pose proof (proj1 (in_cube_of pair eps (fun p => learned phi (phi p)) A free) Hin p Hp) as close.
        apply Rabs_le_between in close. apply Rabs_le. unfold Rabs in small. destruct Rcase_abs; lra.
Qed.
Lemma theorem_1c_twin : ~ (forall (pair sample label : Type) (same : decides label) (equal : decides pair)
  (d : data pair sample) eta start free B0 M eps (family : list (pair -> label)) learned,
  sound d -> small d eta -> 0 < M -> 0 < eps -> NoDup free -> (forall p, In p free -> ~ In p (training d)) ->
  (forall p, In p (training d) -> Rabs (B0 p) <= M) ->
  (forall phi, In phi family -> learns same d B0 phi eta start (learned phi)) ->
  let N := training d ++ free in
  let target A := (forall p, In p (training d) -> A p = B0 p) /\ forall p, In p N -> Rabs (A p) <= M in
  let reached A := target A /\ exists phi limit, In phi family /\ learns same d A phi eta start limit
    /\ forall p, In p N -> Rabs (limit (phi p) - A p) <= eps in
  let points S x := exists A, S A /\ x = map A free in
  let D := length free in
  (forall x, points reached x <-> length x = D /\ (forall t, In t x -> Rabs t <= M) /\ exists phi, In phi family
      /\ (forall p, In p (training d) -> Rabs (learned phi (phi p) - B0 p) <= eps)
      /\ in_box (cube eps (map (fun p => learned phi (phi p)) free)) x)
  /\ has_volume D (points target) ((2 * M) ^ D)
  /\ (exists v, has_volume D (points reached) v /\ v / (2 * M) ^ D <= INR (length family) * (eps / M / 2) ^ D)
  /\ ((forall phi p, In phi family -> In p (training d) -> Rabs (learned phi (phi p) - B0 p) <= eps) ->
      (forall phi p, In phi family -> In p free -> Rabs (learned phi (phi p)) + eps <= M) ->
      ForallOrdPairs (fun phi psi => exists p, In p free
        /\ 2 * eps <= Rabs (learned phi (phi p) - learned psi (psi p))) family ->
      exists v, has_volume D (points reached) v /\ v / (2 * M) ^ D = INR (length family) * (eps / M) ^ D)).
Proof.
  intros H. pose proof (basis_sound _ one_pair) as fine. pose proof (basis_small [0%nat] ltac:(simpl; lia)) as slow.
  set (d := basis [0%nat]) in *. set (B0 := fun _ : nat => 0). set (phi := fun _ : nat => tt).
  set (learned := fun psi => mean_of decide_unit d B0 psi (fun _ => 0)).
  assert (fits : forall psi, In psi [phi] -> learns decide_unit d B0 psi (1 / 4) (fun _ => 0) (learned psi)).
  { intros psi _. apply learned_exists; assumption. }
  assert (zero : forall k, learned phi k = 0).
  { intros k. apply (right_in_class _ _ _ decide_unit d B0 phi (fun _ => 0));
      [exact fine|apply mean_is_balanced; exact fine| |reflexivity].
    exists 0%nat. split; [left; reflexivity|destruct k; reflexivity]. }
  assert (others : forall p, In p [1%nat] -> ~ In p (training d)) by (intros p [E|[]] [F|[]]; subst; discriminate).
  assert (block : forall p, In p (training d) -> Rabs (B0 p) <= 2) by (intros; unfold B0; rewrite Rabs_R0; lra).
  assert (alone : NoDup [1%nat]) by (constructor; [intros []|constructor]).
  pose proof (theorem_1c nat nat unit decide_unit Nat.eq_dec d (1 / 4) (fun _ => 0) [1%nat] B0 2 1 [phi] learned fine
    slow ltac:(lra) ltac:(lra) alone others block fits) as [_ [_ [_ attained]]].
  destruct (H nat nat unit decide_unit Nat.eq_dec d (1 / 4) (fun _ => 0) [1%nat] B0 2 1 [phi] learned fine
    slow ltac:(lra) ltac:(lra) alone others block fits) as [_ [_ [[v [Hv less]] _]]].
  destruct attained as [w [Hw share]].
  - intros psi p [E|[]] _. subst. rewrite zero. unfold B0. rewrite Rminus_0_r, Rabs_R0. lra.
  - intros psi p [E|[]] _. subst. rewrite zero, Rabs_R0. lra.
  - constructor; constructor.
  - rewrite (volume_is_one _ _ _ _ Hv Hw) in less. simpl in share, less. lra.
Qed.

(* Open cube of (centre, radius). *)
Definition open_in (b : list R * R) (x : list R) : Prop := Forall2 (fun c t => Rabs (t - c) < snd b) (fst b) x.
Definition bounded (k : nat) (M : R) (x : list R) : Prop := length x = k /\ forall t, In t x -> Rabs t <= M.

(* What holds near every point of an interval, from some stage on, holds on the interval from some stage on. *)
Lemma interval_is_compact : forall (holds : nat -> R -> Prop) a b, a <= b ->
  (forall m n t, (m <= n)%nat -> holds m t -> holds n t) ->
  (forall t, a <= t <= b -> exists delta m, 0 < delta /\ forall u, Rabs (u - t) < delta -> holds m u) ->
  exists m, forall t, a <= t <= b -> holds m t.
Proof.
  intros holds a b le grows near.
  set (upto := fun t => a <= t <= b /\ exists m, forall u, a <= u <= t -> holds m u).
  assert (upto a) as start.
  { split; [lra|]. destruct (near a ltac:(lra)) as [delta [m [Hd Hm]]]. exists m. intros u Hu. apply Hm.
    replace (u - a) with 0 by lra. rewrite Rabs_R0. exact Hd. }
  destruct (completeness upto) as [s [above least]]; [exists b; intros t [Ht _]; lra|exists a; exact start|].
  assert (a <= s <= b) as Hs.
  { split; [apply above; exact start|]. apply least. intros t [Ht _]. lra. }
  destruct (near s Hs) as [delta [m [Hd Hm]]].
  assert (exists t, upto t /\ s - delta < t) as [t [[Ht [k Hk]] far]].
  { apply NNPP. intros none. assert (s <= s - delta); [|lra]. apply least. intros t Ht. apply Rnot_lt_le. intros lt.
    apply none. exists t. split; assumption. }
  assert (t <= s) as Hts by (apply above; split; [exact Ht|exists k; exact Hk]).
  assert (forall u, a <= u < s + delta -> holds (Nat.max k m) u) as both.
  { intros u Hu. destruct (Rle_dec u t) as [low|high].
    - apply (grows k); [lia|]. apply Hk. lra.
    - apply (grows m); [lia|]. apply Hm. apply Rabs_def1; lra. }
  destruct (Rle_lt_dec (s + delta / 2) b) as [more|end_reached].
  - exfalso. assert (s + delta / 2 <= s); [|lra]. apply above. split; [lra|].
    exists (Nat.max k m). intros u Hu. apply both. lra.
  - exists (Nat.max k m). intros u Hu. apply both. lra.
Qed.
Lemma forall2_length : forall (A B : Type) (P : A -> B -> Prop) l m, Forall2 P l m -> length l = length m.
Proof. intros A B P l m H. induction H; simpl; congruence. Qed.
Definition slice (k : nat) (t : R) (b : list R * R) : list R * R :=
  match fst b with
  | c :: r => if Rlt_dec (Rabs (t - c)) (snd b) then (r, snd b) else (repeat 0 (S k), snd b)
  | [] => (repeat 0 (S k), snd b)
  end.
Lemma slice_spec : forall k t b x, length x = k -> (open_in (slice k t b) x <-> open_in b (t :: x)).
Proof.
  intros k t [[|c r] radius] x len; unfold slice, open_in; simpl.
  - split; intros H; [|inversion H]. apply forall2_length in H. simpl in H. rewrite repeat_length in H. lia.
  - destruct (Rlt_dec (Rabs (t - c)) radius) as [yes|no]; simpl.
    + split; intros H; [constructor; assumption|inversion H; assumption].
    + split; intros H; [|inversion H; contradiction]. apply forall2_length in H. simpl in H.
      rewrite repeat_length in H. lia.
Qed.
(* Finitely many open cubes with a point in the first coordinate have its neighbourhood in it. *)
Lemma neighbourhood : forall t (bs : list (list R * R)), exists delta, 0 < delta
  /\ forall u b x, Rabs (u - t) < delta -> In b bs -> open_in b (t :: x) -> open_in b (u :: x).
Proof.
  intros t bs. induction bs as [|[c radius] bs [delta [Hd IH]]]; [exists 1; split; [lra|intros u b x _ []]|].
  destruct c as [|c r].
  - exists delta. split; [exact Hd|]. intros u b x close [E|Hb] H; [subst; inversion H|]. apply IH; assumption.
  - destruct (Rlt_dec (Rabs (t - c)) radius) as [yes|no].
    + exists (Rmin delta (radius - Rabs (t - c))). split; [unfold Rmin; destruct Rle_dec; lra|].
      intros u b x close [E|Hb] H.
      * subst. unfold open_in in *. simpl in *. inversion H; subst. constructor; [|assumption].
        replace (u - c) with ((u - t) + (t - c)) by ring. apply Rle_lt_trans with (1 := Rabs_triang _ _).
        unfold Rmin in close. destruct Rle_dec; lra.
      * apply IH; [unfold Rmin in close; destruct Rle_dec; lra|exact Hb|exact H].
    + exists delta. split; [exact Hd|]. intros u b x close [E|Hb] H; [|apply IH; assumption].
      subst. unfold open_in in H. simpl in H. inversion H. contradiction.
Qed.
(* Of countably many open cubes that cover a cube, finitely many do. *)
Lemma cube_is_compact : forall k M (B : nat -> list (list R * R)), 0 <= M ->
  (forall x, bounded k M x -> exists n b, In b (B n) /\ open_in b x) ->
  exists m, forall x, bounded k M x -> exists b, In b (flat_map B (seq 0 m)) /\ open_in b x.
Proof.
  intros k M. induction k as [|k IH]; intros B HM cover.
  - destruct (cover []) as [n [b [Hb H]]]; [split; [reflexivity|intros t []]|]. exists (S n). intros [|t x] [len _];
      [|discriminate]. exists b. split; [|exact H]. apply in_flat_map. exists n. split; [apply in_seq; lia|exact Hb].
  - set (holds := fun m t => forall x, bounded k M x -> exists b, In b (flat_map B (seq 0 m)) /\ open_in b (t :: x)).
    destruct (interval_is_compact holds (- M) M) as [m Hm]; [lra| | |].
    + intros m n t le Hm x Hx. destruct (Hm x Hx) as [b [Hb H]]. exists b. split; [|exact H].
      apply in_flat_map in Hb. destruct Hb as [i [Hi Hin]]. apply in_flat_map. exists i. split; [|exact Hin].
      apply in_seq in Hi. apply in_seq. lia.
    + intros t Ht. destruct (IH (fun n => map (slice k t) (B n)) HM) as [m Hm].
      * intros x [len small]. destruct (cover (t :: x)) as [n [b [Hb H]]].
        { split; [simpl; lia|]. intros u [E|Hu]; [subst; apply Rabs_le; lra|apply small; exact Hu]. }
        exists n, (slice k t b). split; [apply in_map; exact Hb|apply slice_spec; assumption].
      * destruct (neighbourhood t (flat_map B (seq 0 m))) as [delta [Hd near]]. exists delta, m. split; [exact Hd|].
        intros u close x Hx. destruct (Hm x Hx) as [b [Hb H]]. apply in_flat_map in Hb.
        destruct Hb as [i [Hi Hin]]. apply in_map_iff in Hin. destruct Hin as [b' [E Hb']]. subst b.
        apply slice_spec in H; [|apply Hx]. assert (In b' (flat_map B (seq 0 m))) as here.
        { apply in_flat_map. exists i. split; assumption. }
        exists b'. split; [exact here|]. apply near; assumption.
    + exists m. intros [|t x] [len small]; [discriminate|].
      assert (- M <= t <= M) as Ht.
      { pose proof (small t (or_introl eq_refl)) as H. apply Rabs_le_between in H. lra. }
      apply (Hm t Ht). split; [simpl in len; lia|]. intros u Hu. apply small. right. exact Hu.
Qed.

(* Hausdorff measure zero: countably many cubes, given as a sequence of finite lists of (centre, radius), cover the set,
   and the sum of side^s is as small as one likes. The dimension is where that begins. *)
Definition measure_zero (s : R) (S : list R -> Prop) : Prop :=
  forall e, 0 < e -> exists B : nat -> list (list R * R),
    (forall n b, In b (B n) -> 0 < snd b)
    /\ (forall n, total (fun b => Rpower (2 * snd b) s) (flat_map B (seq 0 n)) <= e)
    /\ forall x, S x -> exists n b, In b (B n) /\ in_box (cube (snd b) (fst b)) x.
Definition has_dimension (S : list R -> Prop) (v : R) : Prop :=
  (forall s, v < s -> measure_zero s S) /\ forall s, 0 < s < v -> ~ measure_zero s S.

Lemma in_cube_first : forall k radius c x, in_box (cube radius c) x ->
  Forall2 (fun c t => Rabs (t - c) <= radius) (firstn k c) (firstn k x).
Proof.
  intros k radius c. revert k. induction c as [|c r IH]; intros [|k] x H; inversion H; subst; simpl; try constructor.
  - simpl in *. apply Rabs_le. lra.
  - apply IH. assumption.
Qed.
Lemma power_falls : forall x s k, 0 < x < 1 -> s < INR k -> x ^ k <= Rpower x s.
Proof.
  intros x s k Hx lt. rewrite <- Rpower_pow by lra. unfold Rpower. left. apply exp_increasing.
  assert (ln x < 0) by (rewrite <- ln_1; apply ln_increasing; lra). nra.
Qed.
(* A set with all points of a cube among its first coordinates is not thinner than the cube. *)
Lemma thick : forall k M s S, 0 < M -> 0 < s < INR k ->
  (forall v, bounded k M v -> exists x, S x /\ firstn k x = v) -> ~ measure_zero s S.
Proof.
  intros k M s S HM Hs onto zero. set (e := Rmin (1 / 2) (M ^ k / 2)).
  assert (0 < M ^ k) as positive by (apply pow_lt; exact HM).
  assert (0 < e) as He by (unfold e, Rmin; destruct Rle_dec; lra).
  assert (e <= 1 / 2 /\ e <= M ^ k / 2) as [small less] by (unfold e, Rmin; destruct Rle_dec; lra).
  destruct (zero e He) as [B [radii [sums cover]]].
  set (B' := fun n => map (fun b => (firstn k (fst b), 2 * snd b)) (B n)).
  destruct (cube_is_compact k M B' ltac:(lra)) as [m finite].
  { intros v Hv. destruct (onto v Hv) as [x [Hx E]]. destruct (cover x Hx) as [n [b [Hb Hin]]].
    exists n, (firstn k (fst b), 2 * snd b). split; [unfold B'; apply (in_map (fun b => (firstn k (fst b), 2 * snd b)));
      exact Hb|]. rewrite <- E. unfold open_in. simpl. pose proof (radii n b Hb) as Hr.
    apply (in_cube_first k) in Hin. clear -Hin Hr. induction Hin; constructor; [lra|assumption]. }
  set (L := flat_map B (seq 0 m)).
  assert (flat_map B' (seq 0 m) = map (fun b => (firstn k (fst b), 2 * snd b)) L) as E.
  { unfold L, B'. generalize (seq 0 m). intros l. induction l as [|n l IH]; simpl; [reflexivity|].
    rewrite map_app, IH. reflexivity. }
  rewrite E in finite.
  set (kept := filter (fun b => Nat.eqb (length (fst b)) k) (map (fun b => (firstn k (fst b), 2 * snd b)) L)).
  assert (forall b, In b L -> 0 < snd b) as HL.
  { intros b Hb. apply in_flat_map in Hb. destruct Hb as [n [_ Hb]]. apply (radii n). exact Hb. }
  assert (covers k (map (fun b => cube (snd b) (fst b)) kept) (bounded k M)) as covered_by.
  { split.
    - intros b Hb. apply in_map_iff in Hb. destruct Hb as [b' [E' Hb']]. subst b. apply filter_In in Hb'.
      destruct Hb' as [Hb' len]. apply Nat.eqb_eq in len. unfold cube. rewrite map_length. split; [exact len|].
      intros side Hside. apply in_map_iff in Hside. destruct Hside as [c [E' _]]. subst side. simpl.
      apply in_map_iff in Hb'. destruct Hb' as [b [E' Hb]]. subst b'. simpl. pose proof (HL b Hb). lra.
    - intros x Hx. destruct (finite x Hx) as [b [Hb Hopen]]. pose proof (forall2_length _ _ _ _ _ Hopen) as len.
      destruct Hx as [lenx _]. exists (cube (snd b) (fst b)). split.
      + apply (in_map (fun b => cube (snd b) (fst b))). apply filter_In. split; [exact Hb|]. apply Nat.eqb_eq. lia.
      + unfold in_box, cube, open_in in *. clear -Hopen.
        induction Hopen as [|c t r y close rest IH]; simpl; constructor.
        * simpl. apply Rabs_def2 in close. lra.
        * exact IH. }
  pose proof (volumes_add M k [repeat 0 k] (map (fun b => cube (snd b) (fst b)) kept) (bounded k M) HM) as whole.
  assert ((2 * M) ^ k <= total volume (map (fun b => cube (snd b) (fst b)) kept)) as least.
  { replace ((2 * M) ^ k) with (INR (length [repeat 0 k]) * (2 * M) ^ k) by (simpl; ring). apply whole.
    - constructor; constructor.
    - intros c [E'|[]]. subst c. apply repeat_length.
    - exact covered_by.
    - intros c x [E'|[]] Hin. subst c. split; [rewrite (box_length _ _ Hin); unfold cube; rewrite map_length;
        apply repeat_length|]. intros t Ht. unfold in_box, cube in Hin. clear -Hin Ht. revert x Hin Ht.
      induction k as [|k IH]; intros x Hin Ht; inversion Hin; subst; [contradiction|].
      destruct Ht as [E|Ht]; [subst; simpl in *; apply Rabs_le; lra|]. eapply IH; eassumption. }
  assert (total volume (map (fun b => cube (snd b) (fst b)) kept) <= 2 ^ k * e) as most.
  { apply Rle_trans with (total (fun b => (2 * (2 * snd b)) ^ k) L).
    - unfold kept. clear -HL. induction L as [|b L IH]; simpl; [lra|].
      assert (0 <= (2 * (2 * snd b)) ^ k) by (apply pow_le; pose proof (HL b (or_introl eq_refl)); lra).
      assert (forall b', In b' L -> 0 < snd b') as HL' by (intros b' Hb'; apply HL; right; exact Hb').
      specialize (IH HL'). destruct (Nat.eqb (length (firstn k (fst b))) k) eqn:len; simpl; [|lra].
      apply Nat.eqb_eq in len. rewrite volume_of_cube, len. lra.
    - apply Rle_trans with (total (fun b => 2 ^ k * Rpower (2 * snd b) s) L).
      + apply total_mono. intros b Hb. rewrite Rpow_mult_distr. apply Rmult_le_compat_l; [apply pow_le; lra|].
        pose proof (HL b Hb) as Hr. apply power_falls; [|lra]. split; [lra|]. apply Rnot_le_lt. intros big.
        assert (Rpower (2 * snd b) s <= e) as one.
        { apply Rle_trans with (2 := sums m). apply (total_least _ (fun b => Rpower (2 * snd b) s)); [|exact Hb].
          intros. left. apply exp_pos. }
        assert (1 <= Rpower (2 * snd b) s); [|lra]. rewrite <- (Rpower_O (2 * snd b)) by lra. apply Rle_Rpower; lra.
      + rewrite total_scale. apply Rmult_le_compat_l; [apply pow_le; lra|]. apply sums. }
  rewrite Rpow_mult_distr in least. assert (0 < 2 ^ k) by (apply pow_lt; lra).
  assert (2 ^ k * e <= 2 ^ k * (M ^ k / 2)) by (apply Rmult_le_compat_l; lra).
  assert (0 < 2 ^ k * M ^ k) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.

(* Finite covers are enough. *)
Lemma finite_covers : forall s (S : list R -> Prop), (forall e, 0 < e -> exists L : list (list R * R),
    (forall b, In b L -> 0 < snd b) /\ total (fun b => Rpower (2 * snd b) s) L <= e
    /\ forall x, S x -> exists b, In b L /\ in_box (cube (snd b) (fst b)) x) -> measure_zero s S.
Proof.
  intros s S fine e He. destruct (fine e He) as [L [radii [sum cover]]].
  exists (fun n => match n with O => L | Datatypes.S _ => [] end). split; [|split].
  - intros [|n] b Hb; [apply radii; exact Hb|contradiction].
  - intros [|n]; [simpl; lra|]. replace (flat_map _ (seq 0 (Datatypes.S n))) with L; [exact sum|]. simpl.
    assert (forall l, (forall i, In i l -> (0 < i)%nat) ->
      flat_map (fun n => match n with O => L | Datatypes.S _ => [] end) l = []) as rest.
    { intros l. induction l as [|i l IH]; intros later; simpl; [reflexivity|].
      rewrite IH by (intros j Hj; apply later; right; exact Hj). pose proof (later i (or_introl eq_refl)).
      destruct i; [lia|reflexivity]. }
    rewrite rest, app_nil_r; [reflexivity|]. intros i Hi. apply in_seq in Hi. lia.
  - intros x Hx. destruct (cover x Hx) as [b [Hb Hin]]. exists 0%nat, b. split; assumption.
Qed.
Lemma grid_is_fine : forall k K M s e, INR k < s -> 0 < K -> 0 < M -> 0 < e ->
  exists n, (0 < n)%nat /\ INR n ^ k * K * Rpower (2 * (M / INR n)) s <= e.
Proof.
  intros k K M s e lt HK HM He. set (q := s - INR k). assert (0 < q) as Hq by (unfold q; lra).
  set (C := K * Rpower (2 * M) s). assert (0 < C) as HC by (apply Rmult_lt_0_compat; [exact HK|apply exp_pos]).
  assert (0 < Rpower (C / e) (/ q)) as Hp by apply exp_pos.
  destruct (archimed_cor1 (/ Rpower (C / e) (/ q)) (Rinv_0_lt_compat _ Hp)) as [n [Hn pos]]. exists n.
  split; [exact pos|]. assert (0 < INR n) as Hpos by (apply lt_0_INR; exact pos).
  assert (Rpower (C / e) (/ q) < INR n) as large by (apply Rinv_lt_cancel; assumption).
  assert (C / e <= Rpower (INR n) q) as enough.
  { apply Rle_trans with (Rpower (Rpower (C / e) (/ q)) q).
    - rewrite Rpower_mult, Rinv_l, Rpower_1 by (try lra; apply Rdiv_lt_0_compat; assumption). lra.
    - apply Rle_Rpower_l; lra. }
  assert (0 < Rpower (INR n) q) as Hr by apply exp_pos.
  replace (INR n ^ k * K * Rpower (2 * (M / INR n)) s) with (C / Rpower (INR n) q).
  - apply (Rmult_le_reg_r (Rpower (INR n) q)); [exact Hr|].
    replace (C / Rpower (INR n) q * Rpower (INR n) q) with (C / e * e) by (field; lra).
    rewrite (Rmult_comm e). apply Rmult_le_compat_r; lra.
  - unfold C, q, Rdiv. rewrite <- (Rpower_pow k) by exact Hpos. unfold Rpower. rewrite <- exp_Ropp.
    replace (ln (2 * (M * / INR n))) with (ln (2 * M) - ln (INR n)).
    2: { replace (2 * (M * / INR n)) with ((2 * M) * / INR n) by ring.
         rewrite (ln_mult (2 * M) (/ INR n)), ln_Rinv; [ring|exact Hpos|lra|apply Rinv_0_lt_compat; exact Hpos]. }
    replace (s * (ln (2 * M) - ln (INR n))) with (s * ln (2 * M) + - (s * ln (INR n))) by ring.
    replace (- ((s - INR k) * ln (INR n))) with (INR k * ln (INR n) + - (s * ln (INR n))) by ring.
    rewrite !exp_plus. ring.
Qed.
(* Middles of n equal parts of [-M, M]. *)
Definition middles (M : R) (n : nat) : list R := map (fun j => - M + (2 * INR j + 1) * (M / INR n)) (seq 0 n).
Lemma middle_near : forall M n t, 0 < M -> (0 < n)%nat -> Rabs t <= M ->
  exists g, In g (middles M n) /\ Rabs (t - g) <= M / INR n.
Proof.
  intros M n t HM pos Ht. apply Rabs_le_between in Ht. assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
  set (h := M / INR n). assert (0 < h) as Hh by (apply Rdiv_lt_0_compat; assumption).
  assert (forall m, (0 < m)%nat -> t + M <= 2 * INR m * h ->
    exists j, (j < m)%nat /\ Rabs (t - (- M + (2 * INR j + 1) * h)) <= h) as some.
  { intros m Hm. induction m as [|m IH]; [lia|]. intros upto. rewrite S_INR in upto.
    destruct (Rle_lt_dec (2 * INR m * h) (t + M)) as [high|low].
    - exists m. split; [lia|]. apply Rabs_le. lra.
    - destruct m as [|m]; [simpl in low; lra|]. destruct IH as [j [lt near]]; [lia|lra|]. exists j.
      split; [lia|exact near]. }
  destruct (some n pos) as [j [lt near]]; [replace (2 * INR n * h) with (2 * M) by (unfold h; field; lra); lra|].
  exists (- M + (2 * INR j + 1) * h). split; [|exact near].
  apply (in_map (fun j => - M + (2 * INR j + 1) * (M / INR n))). apply in_seq. lia.
Qed.
Lemma words_near : forall M n v, 0 < M -> (0 < n)%nat -> (forall t, In t v -> Rabs t <= M) ->
  exists W, In W (words (middles M n) (length v)) /\ Forall2 (fun t g => Rabs (t - g) <= M / INR n) v W.
Proof.
  intros M n v HM pos. induction v as [|t v IH]; intros small; [exists []; split; [left; reflexivity|constructor]|].
  destruct IH as [W [HW near]]; [intros u Hu; apply small; right; exact Hu|].
  destruct (middle_near M n t HM pos (small t (or_introl eq_refl))) as [g [Hg close]].
  exists (g :: W). split; [|constructor; assumption]. simpl. apply in_flat_map. exists W. split; [exact HW|].
  apply (in_map (fun x => x :: W)). exact Hg.
Qed.

(* Theorem 1 (1e), the dimension: the patterns of d entries up to M whose LRC is at most r have the Hausdorff dimension
   min(r, d) (claim pola-1e). *)
Theorem theorem_1e_dimension : forall (d r : nat) M, 0 < M ->
  has_dimension (fun A => length A = d /\ (forall x, In x A -> Rabs x <= M) /\ (lrc A <= r)%nat) (INR (Nat.min r d)).
Proof.
  intros d r M HM. set (k := Nat.min r d). split.
  - intros s Hs. apply finite_covers. intros e He.
    destruct (grid_is_fine k (INR (S k ^ d)) M s e Hs) as [n [pos fine]]; [|exact HM|exact He|].
    { apply lt_0_INR. apply Nat.neq_0_lt_0. apply Nat.pow_nonzero. lia. }
    assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
    set (centres := flat_map (fun W => words (0 :: W) d) (words (middles M n) k)).
    assert (length centres = (n ^ k * S k ^ d)%nat) as count.
    { assert (forall l, (forall W, In W l -> length W = k) ->
        length (flat_map (fun W => words (0 :: W) d) l) = (length l * S k ^ d)%nat) as each.
      { intros l. induction l as [|W l IH]; intros lengths; [reflexivity|]. cbn [flat_map].
        rewrite app_length, IH by (intros V HV; apply lengths; right; exact HV).
        rewrite words_length. cbn [length]. rewrite (lengths W (or_introl eq_refl)). simpl. lia. }
      unfold centres. rewrite each; [|intros W HW; apply words_spec in HW; apply HW].
      rewrite words_length. unfold middles. rewrite map_length, seq_length. reflexivity. }
    exists (map (fun c => (c, M / INR n)) centres). split; [|split].
    + intros b Hb. apply in_map_iff in Hb. destruct Hb as [c [E _]]. subst. simpl. apply Rdiv_lt_0_compat; assumption.
    + rewrite total_map. simpl snd. apply Rle_trans with (2 := fine). right.
      rewrite total_const, count, mult_INR, pow_INR. ring.
    + intros A [len [small low]].
      assert (length (values A) <= k)%nat as few.
      { unfold k. apply Nat.min_glb; [exact low|]. rewrite <- len. apply NoDup_incl_length; [apply values_nodup|].
        intros x Hx. apply in_values in Hx. apply Hx. }
      set (V := values A ++ repeat 0 (k - length (values A))).
      assert (length V = k) as lenV by (unfold V; rewrite app_length, repeat_length; lia).
      destruct (words_near M n V HM pos) as [W [HW near]].
      { intros t Ht. apply in_app_or in Ht. destruct Ht as [Ht|Ht].
        - apply in_values in Ht. apply small. apply Ht.
        - apply repeat_spec in Ht. subst. rewrite Rabs_R0. lra. }
      rewrite lenV in HW.
      assert (forall t, In t A -> exists g, In g (0 :: W) /\ Rabs (t - g) <= M / INR n) as each.
      { intros t Ht. destruct (Req_dec t 0) as [E|nz].
        - exists 0. split; [left; reflexivity|]. subst. rewrite Rminus_0_r, Rabs_R0. left.
          apply Rdiv_lt_0_compat; assumption.
        - assert (In t V) as HV by (apply in_or_app; left; apply in_values; split; assumption).
          clear -near HV. induction near as [|u g v w close rest IH]; [contradiction|].
          destruct HV as [E|HV]; [subst; exists g; split; [right; left; reflexivity|exact close]|].
          destruct (IH HV) as [g' [[E|Hg] close']]; exists g'; (split; [|exact close']);
            [left; exact E|right; right; exact Hg]. }
      assert (exists c, In c (words (0 :: W) (length A)) /\ in_box (cube (M / INR n) c) A) as [c [Hc Hin]].
      { clear -each. induction A as [|t A IH]; [exists []; split; [left; reflexivity|constructor]|].
        destruct IH as [c [Hc Hin]]; [intros u Hu; apply each; right; exact Hu|].
        destruct (each t (or_introl eq_refl)) as [g [Hg close]]. exists (g :: c). split.
        - cbn [length words]. apply in_flat_map. exists c. split; [exact Hc|].
          apply (in_map (fun x => x :: c)). exact Hg.
        - constructor; [|exact Hin]. simpl. apply Rabs_le_between in close. lra. }
      exists (c, M / INR n). split; [|exact Hin]. apply (in_map (fun c => (c, M / INR n))). apply in_flat_map.
      exists W. split; [exact HW|]. rewrite <- len. exact Hc.
  - intros s Hs. apply (thick k M); [exact HM|exact Hs|]. intros v [len small].
    exists (v ++ repeat 0 (d - k)). split; [split; [|split]|].
    + rewrite app_length, repeat_length. unfold k in *. lia.
    + intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; [apply small; exact Hx|].
      apply repeat_spec in Hx. subst. rewrite Rabs_R0. lra.
    + apply Nat.le_trans with (length v); [|unfold k in *; lia]. apply NoDup_incl_length; [apply values_nodup|].
      intros x Hx. apply in_values in Hx. destruct Hx as [Hx nz]. apply in_app_or in Hx.
      destruct Hx as [Hx|Hx]; [exact Hx|]. apply repeat_spec in Hx. contradiction.
    + rewrite firstn_app, len, Nat.sub_diag, firstn_O, app_nil_r, <- len. apply firstn_all.
Qed.
Lemma theorem_1e_dimension_twin : ~ (forall (d r : nat) M, 0 < M ->
  has_dimension (fun A => length A = d /\ (forall x, In x A -> Rabs x <= M) /\ (lrc A <= r)%nat) (INR r)).
Proof.
  intros H. destruct (theorem_1e_dimension 1 2 1 ltac:(lra)) as [above _].
  destruct (H 1%nat 2%nat 1 ltac:(lra)) as [_ below]. apply (below (3 / 2)); [simpl; lra|]. apply above. simpl. lra.
Qed.

Fixpoint entry {pair : Type} (equal : decides pair) (keys : list pair) (x : list R) (p : pair) : R :=
  match keys, x with q :: r, t :: y => if equal p q then t else entry equal r y p | _, _ => 0 end.
Lemma entry_near : forall (pair : Type) (equal : decides pair) h (A : pair -> R) keys x,
  Forall2 (fun t g => Rabs (t - g) <= h) (map A keys) x ->
  forall p, In p keys -> Rabs (A p - entry equal keys x p) <= h.
Proof.
  intros pair equal h A keys. induction keys as [|q keys IH]; intros x near p Hp; [contradiction|].
  simpl in near. inversion near; subst. simpl. destruct (equal p q) as [E|ne]; [subst; assumption|].
  apply IH; [assumption|]. destruct Hp as [E|Hp]; [congruence|exact Hp].
Qed.
Lemma fine_grid : forall k M s e, INR k < s -> 0 < M -> 0 < e ->
  { n | (0 < n)%nat /\ INR n ^ k * 1 * Rpower (2 * (M / INR n)) s <= e }.
Proof.
  intros k M s e Hs HM He. apply constructive_indefinite_ground_description_nat.
  - intros n. destruct (Nat.eq_dec n 0) as [E|ne]; [right; lia|].
    destruct (Rle_dec (INR n ^ k * 1 * Rpower (2 * (M / INR n)) s) e); [left|right]; intuition lia.
  - apply grid_is_fine; lra.
Qed.
(* A set that follows from k numbers up to M by a Lipschitz map has measure zero for every s > k, and finite covers show
   it. *)
Lemma lipschitz_covers : forall (pair : Type) (equal : decides pair) (block N : list pair) M L s e
  (learner : (pair -> R) -> pair -> R), 0 < M -> 0 < L -> INR (length block) < s -> 0 < e ->
  (forall A B gap, 0 <= gap -> (forall p, In p block -> Rabs (A p - B p) <= gap) ->
    forall p, In p N -> Rabs (learner A p - learner B p) <= L * gap) ->
  { cover : list (list R * R) | (forall b, In b cover -> 0 < snd b)
    /\ total (fun b => Rpower (2 * snd b) s) cover <= e
    /\ forall A, (forall p, In p block -> Rabs (A p) <= M) -> (forall p, In p N -> learner A p = A p) ->
       exists b, In b cover /\ in_box (cube (snd b) (fst b)) (map A N) }.
Proof.
  intros pair equal block N M L s e learner HM HL Hs He lipschitz.
  assert (0 < L * M) as HLM by (apply Rmult_lt_0_compat; assumption).
  destruct (fine_grid (length block) (L * M) s e Hs HLM He) as [n [pos fine]].
  assert (0 < INR n) as Hn by (apply lt_0_INR; exact pos).
  exists (map (fun W => (map (learner (entry equal block W)) N, L * M / INR n)) (words (middles M n) (length block))).
  split; [|split].
  - intros b Hb. apply in_map_iff in Hb. destruct Hb as [W [E _]]. subst. simpl. apply Rdiv_lt_0_compat; assumption.
  - rewrite total_map. simpl snd. rewrite total_const, words_length. unfold middles.
    rewrite map_length, seq_length, pow_INR. apply Rle_trans with (2 := fine). right. ring.
  - intros A small fixed. destruct (words_near M n (map A block) HM pos) as [W [HW near]].
    { intros t Ht. apply in_map_iff in Ht. destruct Ht as [p [E Hp]]. subst. apply small. exact Hp. }
    rewrite map_length in HW. exists (map (learner (entry equal block W)) N, L * M / INR n). split.
    + apply (in_map (fun W => (map (learner (entry equal block W)) N, L * M / INR n))). exact HW.
    + simpl. apply in_cube_of. intros p Hp. rewrite <- (fixed p Hp).
      replace (L * M / INR n) with (L * (M / INR n)) by (field; lra).
      apply lipschitz; [left; apply Rdiv_lt_0_compat; assumption| |exact Hp]. intros q Hq. apply entry_near; assumption.
Qed.
Lemma countably_many : forall s (S : nat -> list R -> Prop),
  (forall n e, 0 < e -> { cover : list (list R * R) | (forall b, In b cover -> 0 < snd b)
    /\ total (fun b => Rpower (2 * snd b) s) cover <= e
    /\ forall x, S n x -> exists b, In b cover /\ in_box (cube (snd b) (fst b)) x }) ->
  measure_zero s (fun x => exists n, S n x).
Proof.
  intros s S each e He.
  assert (forall n, 0 < e / 2 ^ Datatypes.S n) as parts
    by (intros; apply Rdiv_lt_0_compat; [exact He|apply pow_lt; lra]).
  set (B := fun n => proj1_sig (each n _ (parts n))). exists B.
  assert (HB : forall n, (forall b, In b (B n) -> 0 < snd b)
    /\ total (fun b => Rpower (2 * snd b) s) (B n) <= e / 2 ^ Datatypes.S n
    /\ forall x, S n x -> exists b, In b (B n) /\ in_box (cube (snd b) (fst b)) x)
    by (intros n; exact (proj2_sig (each n _ (parts n)))).
  split; [|split].
  - intros n. apply (proj1 (HB n)).
  - intros n. apply Rle_trans with (e * (1 - / 2 ^ n)).
    + induction n as [|n IH]; [simpl; lra|]. rewrite seq_S, flat_map_app, total_app. simpl flat_map.
      rewrite app_nil_r. pose proof (proj1 (proj2 (HB n))) as here. simpl plus.
      replace (e * (1 - / 2 ^ Datatypes.S n)) with (e * (1 - / 2 ^ n) + e / 2 ^ Datatypes.S n)
        by (simpl; field; apply pow_nonzero; lra). lra.
    + assert (0 < / 2 ^ n) by (apply Rinv_0_lt_compat; apply pow_lt; lra).
      assert (0 <= e * / 2 ^ n) by (apply Rmult_le_pos; lra). lra.
  - intros x [n Hx]. destruct (proj2 (proj2 (HB n)) x Hx) as [b [Hb Hin]]. exists n, b. split; assumption.
Qed.

Lemma nodup_first : forall (A : Type) (l m : list A), NoDup (l ++ m) -> NoDup l.
Proof.
  intros A l m. induction l as [|x l IH]; intros H; [constructor|]. simpl in H. inversion H; subst. constructor.
  - intros Hx. apply H2. apply in_or_app. left. exact Hx.
  - apply IH. assumption.
Qed.

(* Ridge regression: the loss with lambda times the sum of squares is stationary in each label. *)
Definition ridge {pair sample label : Type} (same : decides label) (d : data pair sample) (A : pair -> R)
  (phi : pair -> label) (lambda : R) (theta : label -> R) : Prop :=
  forall k, is_derive (fun h => loss d A phi (moved same theta k h) + lambda * (theta k + h) ^ 2) 0 0.
Lemma ridge_balance : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi lambda theta
  k,
  sound d -> ridge same d A phi lambda theta ->
  total (fun x => fst x * (A (snd x) - theta k)) (class same d phi k) = lambda * theta k.
Proof.
  intros pair sample label same d A phi lambda theta k H flat. pose proof (flat k) as zero.
  assert (is_derive (fun h => loss d A phi (moved same theta k h) + lambda * (theta k + h) ^ 2) 0
    (- 2 * total (fun x => fst x * (A (snd x) - theta k)) (class same d phi k) + 2 * lambda * theta k)) as slope.
  { apply (is_derive_plus (fun h => loss d A phi (moved same theta k h)) (fun h => lambda * (theta k + h) ^ 2)).
    - apply loss_slope. exact H.
    - auto_derive; [trivial|ring]. }
  pose proof (is_derive_unique _ _ _ zero) as E1. pose proof (is_derive_unique _ _ _ slope) as E2. lra.
Qed.
Lemma total_between : forall (pair : Type) x (A B C : pair -> R) a b (l : list (R * pair)),
  (forall y, In y l -> C (snd y) = x * A (snd y) + (1 - x) * B (snd y)) ->
  total (fun y => fst y * (C (snd y) - (x * a + (1 - x) * b))) l
  = x * total (fun y => fst y * (A (snd y) - a)) l + (1 - x) * total (fun y => fst y * (B (snd y) - b)) l.
Proof. intros pair x A B C a b l E. rewrite <- total_linear. apply total_ext. intros y Hy. rewrite (E y Hy). ring. Qed.
Lemma total_shift : forall (pair : Type) (A : pair -> R) a b (l : list (R * pair)),
  total (fun y => fst y * (A (snd y) - a)) l = total (fun y => fst y * (A (snd y) - b)) l + (b - a) * total fst l.
Proof. intros. induction l as [|y l IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma ridge_exists : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A phi lambda,
  sound d -> 0 < lambda -> exists theta, ridge same d A phi lambda theta.
Proof.
  intros pair sample label same d A phi lambda H positive.
  exists (fun k => total (fun y => fst y * A (snd y)) (class same d phi k) / (lambda + class_weight same d phi k)).
  set (theta := fun k => _). intros k.
  assert (0 <= class_weight same d phi k) as weight.
  { apply total_nonnegative. intros y Hy. apply class_spec in Hy. left. apply (weights_positive _ _ d y H). apply Hy. }
  replace 0 with (- 2 * total (fun y => fst y * (A (snd y) - theta k)) (class same d phi k)
    + 2 * lambda * theta k) at 2.
  - apply (is_derive_plus (fun h => loss d A phi (moved same theta k h)) (fun h => lambda * (theta k + h) ^ 2)).
    + apply loss_slope. exact H.
    + auto_derive; [trivial|ring].
  - rewrite (total_shift pair A (theta k) 0). fold (class_weight same d phi k).
    rewrite (total_ext _ (fun y => fst y * (A (snd y) - 0)) (fun y => fst y * A (snd y))) by (intros; ring).
    unfold theta. field. lra.
Qed.
Lemma mean_is_lipschitz : forall (pair sample label : Type) (same : decides label) (d : data pair sample) A B phi start
  gap k, sound d -> 0 <= gap -> (forall p, In p (training d) -> Rabs (A p - B p) <= gap) ->
  Rabs (mean_of same d A phi start k - mean_of same d B phi start k) <= gap.
Proof.
  intros pair sample label same d A B phi start gap k H Hg near.
  destruct (met_or_empty _ _ _ same d phi k H) as [[_ W]|[_ E]].
  2: { unfold mean_of. rewrite E, Rminus_diag_eq, Rabs_R0 by reflexivity. exact Hg. }
  assert (forall C, mean_of same d C phi start k
    = total (fun y => fst y * C (snd y)) (class same d phi k) / class_weight same d phi k) as means.
  { intros C. unfold mean_of. destruct (class same d phi k) as [|y l] eqn:E; [|reflexivity].
    exfalso. unfold class_weight in W. rewrite E in W. simpl in W. lra. }
  rewrite !means. set (c := class same d phi k) in *. set (w := class_weight same d phi k) in *.
  assert (forall y, In y c -> 0 < fst y /\ - gap <= A (snd y) - B (snd y) <= gap) as each.
  { intros y Hy. apply class_spec in Hy. destruct Hy as [Hy _]. split; [apply (weights_positive _ _ d y H Hy)|].
    apply Rabs_le_between. apply near. apply in_weighted. exists (fst y). destruct y. exact Hy. }
  assert (total (fun y => fst y * A (snd y)) c - total (fun y => fst y * B (snd y)) c <= gap * w
    /\ - (gap * w) <= total (fun y => fst y * A (snd y)) c - total (fun y => fst y * B (snd y)) c) as [high low].
  { unfold w, class_weight. fold c. clear -each. induction c as [|y c IH]; simpl; [lra|].
    destruct IH as [high low]; [intros z Hz; apply each; right; exact Hz|].
    destruct (each y (or_introl eq_refl)) as [pos [lower upper]].
    assert (fst y * (A (snd y) - B (snd y)) <= fst y * gap) by (apply Rmult_le_compat_l; lra).
    assert (fst y * - gap <= fst y * (A (snd y) - B (snd y))) by (apply Rmult_le_compat_l; lra). lra. }
  set (t := total (fun y => fst y * A (snd y)) c) in *. set (u := total (fun y => fst y * B (snd y)) c) in *.
  replace (t / w - u / w) with ((t - u) / w) by (field; lra). pose proof (Rinv_0_lt_compat _ W) as back.
  apply Rabs_le. replace gap with (gap * w * / w) by (field; lra). unfold Rdiv. split.
  - rewrite Ropp_mult_distr_l. apply Rmult_le_compat_r; lra.
  - apply Rmult_le_compat_r; lra.
Qed.

(* Theorem 1 (1d): countably many relations with a learner Lipschitz in the block reach, over all blocks together, a set
   of dimension at most d_N0, the entries of the block, below d_N = dim F_M. Gradient descent after any steps, its limit
   and ridge regression are affine in the block; and under one relation the limit attains d_N0 (claim pola-1d). *)
Theorem theorem_1d : forall (pair sample label : Type) (same : decides label) (equal : decides pair)
  (d : data pair sample) eta start block beyond M,
  sound d -> small d eta -> 0 < M -> NoDup (block ++ beyond) -> (forall p, In p block <-> In p (training d)) ->
  let N := block ++ beyond in
  let target A := forall p, In p N -> Rabs (A p) <= M in
  let points S x := exists A, S A /\ x = map A N in
  let between x A B C := forall p, In p block -> C p = x * A p + (1 - x) * B p :> R in
  (forall (learner : nat -> (pair -> R) -> pair -> R) stretch, (forall n, 0 < stretch n
      /\ forall A B gap, 0 <= gap -> (forall p, In p block -> Rabs (A p - B p) <= gap) ->
        forall p, In p N -> Rabs (learner n A p - learner n B p) <= stretch n * gap) ->
    forall s, INR (length block) < s ->
      measure_zero s (points (fun A => target A /\ exists n, forall p, In p N -> learner n A p = A p)))
  /\ has_dimension (points target) (INR (length N)) /\ (beyond <> [] -> (length block < length N)%nat)
  /\ (forall phi A lambda, 0 < lambda -> (exists theta, descends same d A phi eta start theta)
      /\ (exists a, learns same d A phi eta start a) /\ exists a, ridge same d A phi lambda a)
  /\ (forall phi x A B C a b c t k, between x A B C -> descends same d A phi eta start a ->
      descends same d B phi eta start b -> descends same d C phi eta start c ->
      c t k = x * a t k + (1 - x) * b t k)
  /\ (forall phi x A B C a b c k, between x A B C -> learns same d A phi eta start a ->
      learns same d B phi eta start b -> learns same d C phi eta start c -> c k = x * a k + (1 - x) * b k)
  /\ (forall lambda phi x A B C a b c k, 0 < lambda -> between x A B C -> ridge same d A phi lambda a ->
      ridge same d B phi lambda b -> ridge same d C phi lambda c -> c k = x * a k + (1 - x) * b k)
  /\ exists phi : pair -> pair, has_dimension (points (fun A => target A /\ exists limit,
      learns equal d A phi eta origin limit /\ generalizes N A phi limit)) (INR (length block)).
Proof.
  intros pair sample label same equal d eta start block beyond M H Hs HM different trained N target points between.
  assert (incl (training d) N) as sub by (intros p Hp; apply in_or_app; left; apply trained; exact Hp).
  assert (forall phi k x A B C a b, between x A B C ->
    total (fun y => fst y * (C (snd y) - (x * a + (1 - x) * b))) (class same d phi k)
    = x * total (fun y => fst y * (A (snd y) - a)) (class same d phi k)
      + (1 - x) * total (fun y => fst y * (B (snd y) - b)) (class same d phi k)) as mixes.
  { intros phi k x A B C a b E. apply total_between. intros y Hy. apply E. apply trained. apply in_weighted.
    apply class_spec in Hy. exists (fst y). destruct y. apply Hy. }
  assert (forall (learner : nat -> (pair -> R) -> pair -> R) stretch, (forall n, 0 < stretch n
      /\ forall A B gap, 0 <= gap -> (forall p, In p block -> Rabs (A p - B p) <= gap) ->
        forall p, In p N -> Rabs (learner n A p - learner n B p) <= stretch n * gap) ->
    forall s, INR (length block) < s ->
      measure_zero s (points (fun A => target A /\ exists n, forall p, In p N -> learner n A p = A p))) as at_most.
  { intros learner stretch lipschitz s lt.
    assert (measure_zero s (fun x => exists n, points (fun A => target A /\ forall p, In p N -> learner n A p = A p) x))
      as thin.
    { apply countably_many. intros n e He. destruct (lipschitz n) as [positive stretched].
      destruct (lipschitz_covers pair equal block N M (stretch n) s e (learner n) HM positive lt He stretched)
        as [cover [radii [sum covered]]].
      exists cover. split; [exact radii|split; [exact sum|]]. intros x [A [[small fixed] E]]. subst.
      apply covered; [|exact fixed]. intros p Hp. apply small. apply in_or_app. left. exact Hp. }
    intros e He. destruct (thin e He) as [B [radii [sums cover]]]. exists B. split; [exact radii|split; [exact sums|]].
    intros x [A [[small [n fixed]] E]]. apply cover. exists n, A. split; [split; assumption|exact E]. }
  split; [exact at_most|split; [|split; [|split; [|split; [|split; [|split]]]]]].
  - split.
    + intros s lt.
      assert (measure_zero s (fun x =>
        exists n : nat, points (fun A => target A /\ forall p, In p N -> A p = A p) x)) as thin.
      { apply countably_many. intros n e He.
        destruct (lipschitz_covers pair equal N N M 1 s e (fun A => A) HM ltac:(lra) lt He)
          as [cover [radii [sum covered]]].
        - intros A B gap _ near p Hp. rewrite Rmult_1_l. apply near. exact Hp.
        - exists cover. split; [exact radii|split; [exact sum|]]. intros x [A [[small _] E]]. subst.
          apply covered; [exact small|reflexivity]. }
      intros e He. destruct (thin e He) as [B [radii [sums cover]]]. exists B.
      split; [exact radii|split; [exact sums|]]. intros x [A [small E]]. apply cover. exists 0%nat, A.
      split; [split; [exact small|reflexivity]|exact E].
    + intros s inside. apply (thick (length N) M); [exact HM|exact inside|]. intros v [len small].
      destruct (named pair equal N v different len) as [A E]. exists v. split; [|rewrite <- len; apply firstn_all].
      exists A. split; [|symmetry; exact E]. intros p Hp. apply small. rewrite <- E. apply in_map. exact Hp.
  - intros some. unfold N. rewrite app_length. destruct beyond; [contradiction|simpl; lia].
  - intros phi A lambda positive. pose proof (learned_exists _ _ _ same d A phi eta start H Hs) as learned.
    split; [destruct learned as [theta [runs _]]; exists theta; exact runs|].
    split; [eexists; exact learned|apply ridge_exists; assumption].
  - intros phi x A B C a b c t k E da db dc. induction t as [|t IH].
    + rewrite (proj1 da), (proj1 db), (proj1 dc). ring.
    + rewrite (step _ _ _ same d C phi eta start c t k H dc), IH, (mixes phi k x A B C (a t k) (b t k) E).
      rewrite (step _ _ _ same d A phi eta start a t k H da), (step _ _ _ same d B phi eta start b t k H db). ring.
  - intros phi x A B C a b c k E la lb lc.
    apply (descent_converges _ _ _ same d _ phi eta start H Hs) in la, lb, lc.
    apply (balanced_is_unique _ _ _ same d C C phi start c (fun j => x * a j + (1 - x) * b j) H);
      [reflexivity|exact lc|].
    intros j. destruct (la j) as [ma ua], (lb j) as [mb ub]. split.
    + intros Hm. rewrite (mixes phi j x A B C (a j) (b j) E), (ma Hm), (mb Hm). ring.
    + intros Hm. rewrite (ua Hm), (ub Hm). ring.
  - intros lambda phi x A B C a b c k positive E ra rb rc.
    pose proof (ridge_balance _ _ _ same d A phi lambda a k H ra) as Ea.
    pose proof (ridge_balance _ _ _ same d B phi lambda b k H rb) as Eb.
    pose proof (ridge_balance _ _ _ same d C phi lambda c k H rc) as Ec.
    rewrite (total_shift pair C (c k) (x * a k + (1 - x) * b k)), (mixes phi k x A B C (a k) (b k) E), Ea, Eb in Ec.
    assert (0 <= total fst (class same d phi k)) as weight.
    { apply total_nonnegative. intros y Hy. apply class_spec in Hy. left.
      apply (weights_positive _ _ d y H). apply Hy. }
    apply (Rmult_eq_reg_l (lambda + total fst (class same d phi k))); [|lra]. nra.
  - assert (exists phi : pair -> pair, (forall p, In p block -> phi p = p)
      /\ (block <> [] -> forall p, In (phi p) block)) as [phi [kept inside]].
    { destruct block as [|p0 block']; [exists (fun p => p); split; [reflexivity|contradiction]|].
      exists (fun p => if in_dec equal p (p0 :: block') then p else p0).
      split; [intros p Hp; destruct (in_dec equal p (p0 :: block')); [reflexivity|contradiction]|].
      intros _ p. destruct (in_dec equal p (p0 :: block')); [assumption|left; reflexivity]. }
    exists phi. split.
    { intros s lt. assert (measure_zero s (points (fun A => target A /\ exists n : nat,
        forall p, In p N -> mean_of equal d A phi origin (phi p) = A p))) as thin.
      { apply (at_most (fun _ A p => mean_of equal d A phi origin (phi p)) (fun _ => 1)); [|exact lt].
        intros _. split; [lra|]. intros A B gap Hg near p _. rewrite Rmult_1_l.
        apply mean_is_lipschitz; [exact H|exact Hg|].
        intros q Hq. apply near. apply trained. exact Hq. }
      intros e He. destruct (thin e He) as [F [radii [sums cover]]]. exists F.
      split; [exact radii|split; [exact sums|]]. intros x [A [[small [limit [learned right]]] E]]. apply cover.
      exists A. split; [|exact E]. split; [exact small|]. exists 0%nat. intros p Hp. rewrite <- (right p Hp).
      apply (descent_converges _ _ _ equal d A phi eta origin H Hs) in learned.
      apply (balanced_is_unique _ _ _ equal d A A phi origin); [exact H|reflexivity|apply mean_is_balanced; exact H|
        exact learned]. }
    intros s between_0. assert (block <> []) as some.
    { intros E. rewrite E in between_0. simpl in between_0. lra. }
    specialize (inside some). apply (thick (length block) M); [exact HM|exact between_0|]. intros v [len small].
    assert (NoDup block) as distinct by (apply (nodup_first _ _ beyond); exact different).
    destruct (named pair equal block v distinct len) as [f Hf].
    set (A := fun p => f (phi p)). exists (map A N).
    assert (map A block = v) as first_part.
    { rewrite <- Hf. apply map_ext_in. intros p Hp. unfold A. rewrite kept by exact Hp. reflexivity. }
    split.
    + exists A. split; [|reflexivity]. split.
      * intros p _. apply small. rewrite <- Hf. unfold A. apply in_map. apply inside.
      * exists (mean_of equal d A phi origin). split; [apply learned_exists; assumption|].
        apply (right_limits _ _ _ equal d A phi origin _ N H sub (mean_is_balanced _ _ _ equal d A phi origin H)).
        split; [intros p q _ _ E; unfold A; rewrite E; reflexivity|]. intros p _ out. exfalso. apply out.
        exists (phi p). split; [apply trained; apply inside|apply kept; apply inside].
    + unfold N. rewrite map_app, firstn_app, map_length, Nat.sub_diag, firstn_O, app_nil_r, first_part, <- len.
      apply firstn_all.
Qed.
Lemma theorem_1d_twin : ~ (forall (pair sample label : Type) (same : decides label) (equal : decides pair)
  (d : data pair sample) eta start block beyond M,
  sound d -> small d eta -> 0 < M -> NoDup (block ++ beyond) -> (forall p, In p block <-> In p (training d)) ->
  let N := block ++ beyond in
  let target A := forall p, In p N -> Rabs (A p) <= M in
  let points S x := exists A, S A /\ x = map A N in
  let between x A B C := forall p, In p block -> C p = x * A p + (1 - x) * B p :> R in
  (forall (learner : nat -> (pair -> R) -> pair -> R) stretch, (forall n, 0 < stretch n
      /\ forall A B gap, 0 <= gap -> (forall p, In p block -> Rabs (A p - B p) <= gap) ->
        forall p, In p N -> Rabs (learner n A p - learner n B p) <= stretch n * gap) ->
    forall s, INR (length block) - 1 < s ->
      measure_zero s (points (fun A => target A /\ exists n, forall p, In p N -> learner n A p = A p)))
  /\ has_dimension (points target) (INR (length N)) /\ (beyond <> [] -> (length block < length N)%nat)
  /\ (forall phi A lambda, 0 < lambda -> (exists theta, descends same d A phi eta start theta)
      /\ (exists a, learns same d A phi eta start a) /\ exists a, ridge same d A phi lambda a)
  /\ (forall phi x A B C a b c t k, between x A B C -> descends same d A phi eta start a ->
      descends same d B phi eta start b -> descends same d C phi eta start c ->
      c t k = x * a t k + (1 - x) * b t k)
  /\ (forall phi x A B C a b c k, between x A B C -> learns same d A phi eta start a ->
      learns same d B phi eta start b -> learns same d C phi eta start c -> c k = x * a k + (1 - x) * b k)
  /\ (forall lambda phi x A B C a b c k, 0 < lambda -> between x A B C -> ridge same d A phi lambda a ->
      ridge same d B phi lambda b -> ridge same d C phi lambda c -> c k = x * a k + (1 - x) * b k)
  /\ exists phi : pair -> pair, has_dimension (points (fun A => target A /\ exists limit,
      learns equal d A phi eta origin limit /\ generalizes N A phi limit)) (INR (length block))).
Proof.
  intros H. pose proof (basis_sound _ one_pair) as fine. pose proof (basis_small [0%nat] ltac:(simpl; lia)) as slow.
  assert (NoDup ([0%nat] ++ [])) as alone by (simpl; exact one_pair).
  assert (forall p, In p [0%nat] <-> In p (training (basis [0%nat]))) as trained by (intros p; simpl; tauto).
  destruct (H nat nat nat Nat.eq_dec Nat.eq_dec (basis [0%nat]) (1 / 4) origin [0%nat] [] 1 fine slow Rlt_0_1
    alone trained) as [thin _].
  destruct (theorem_1d nat nat nat Nat.eq_dec Nat.eq_dec (basis [0%nat]) (1 / 4) origin [0%nat] [] 1 fine slow Rlt_0_1
    alone trained) as [_ [[_ thick_enough] _]].
  apply (thick_enough (1 / 2)); [simpl; lra|].
  assert (forall n : nat, 0 < (fun _ => 1) n /\ forall (A B : nat -> R) gap, 0 <= gap ->
    (forall p, In p [0%nat] -> Rabs (A p - B p) <= gap) -> forall p, In p ([0%nat] ++ []) ->
    Rabs ((fun (_ : nat) A => A) n A p - (fun (_ : nat) A => A) n B p) <= (fun _ => 1) n * gap) as lipschitz.
  { intros n. split; [lra|]. intros A B gap _ near p Hp. rewrite Rmult_1_l. apply near. exact Hp. }
  pose proof (thin (fun _ A => A) (fun _ => 1) lipschitz (1 / 2) ltac:(simpl; lra)) as zero.
  intros e He. destruct (zero e He) as [B [radii [sums cover]]]. exists B. split; [exact radii|split; [exact sums|]].
  intros x [A [small E]]. apply cover. exists A. split; [|exact E]. split; [exact small|]. exists 0%nat. reflexivity.
Qed.

(* Theorem 1, its boundary: if the encoding may take real values and be chosen after the target, as phi := A, then one
   slope learned by least squares from 0, which stays 0 where training shows zeros alone, generalizes if and only if the
   leading block of A is not zero, or A = 0.  So a target with any block that is not zero is reached, whatever its other
   entries (claim pola-1-boundary). *)
Definition fitted {pair : Type} (N0 : list pair) (weight A : pair -> R) (slope : R) : Prop :=
  total (fun p => weight p * A p * (A p - slope * A p)) N0 = 0 /\ ((forall p, In p N0 -> A p = 0) -> slope = 0).
Theorem theorem_1_boundary : forall (pair : Type) (N0 N : list pair) (weight : pair -> R), incl N0 N ->
  (forall p, In p N0 -> 0 < weight p) -> (forall A, exists slope, fitted N0 weight A slope)
  /\ forall A slope, fitted N0 weight A slope ->
    ((forall p, In p N -> slope * A p = A p) <-> (exists p, In p N0 /\ A p <> 0) \/ (forall p, In p N -> A p = 0)).
Proof.
  intros pair N0 N w sub positive.
  assert (block : forall A : pair -> R, (exists p, In p N0 /\ A p <> 0) \/ (forall p, In p N0 -> A p = 0)).
  { intros A. clear sub positive. induction N0 as [|p l [[q [Hq nz]]|zeros]].
    - right. intros p [].
    - left. exists q. split; [right; exact Hq|exact nz].
    - destruct (Req_dec (A p) 0) as [E|nz]; [right|left; exists p; split; [left; reflexivity|exact nz]].
      intros q [same|Hq]; [subst; exact E|apply zeros; exact Hq]. }
  split.
  - intros A. destruct (block A) as [[q [Hq nz]]|zeros].
    + exists 1. split; [apply total_zero; intros; ring|]. intros zeros. exfalso. apply nz. apply zeros. exact Hq.
    + exists 0. split; [apply total_zero; intros p Hp; rewrite (zeros p Hp); ring|reflexivity].
  - intros A slope [normal still]. split.
    + intros right. destruct (block A) as [shown|zeros]; [left; exact shown|right]. intros p Hp.
      rewrite <- (right p Hp), (still zeros). ring.
    + intros [[q [Hq nz]]|zeros] p Hp; [|rewrite zeros by exact Hp; ring].
      rewrite (total_ext _ _ (fun p => (1 - slope) * (w p * A p ^ 2))) in normal by (intros; ring).
      rewrite total_scale in normal.
      apply Rmult_integral in normal. destruct normal as [one|none]; [replace slope with 1 by lra; ring|exfalso].
      assert (each : forall r, In r N0 -> 0 <= w r * A r ^ 2)
        by (intros x Hx; apply Rmult_le_pos; [left; apply positive; exact Hx|apply pow2_ge_0]).
      assert (more : forall l, incl l N0 -> In q l -> 0 < total (fun p => w p * A p ^ 2) l).
      { induction l as [|r l IH]; intros inside Hin; [contradiction|]. cbn [total].
        assert (rest : 0 <= total (fun p => w p * A p ^ 2) l)
          by (apply total_nonnegative; intros x Hx; apply each; apply inside; right; exact Hx).
        destruct Hin as [E|Hin].
        - subst r. assert (0 < w q * A q ^ 2) by
            (apply Rmult_lt_0_compat; [apply positive; exact Hq|apply pow2_gt_0; exact nz]). lra.
        - pose proof (IH (fun x Hx => inside x (or_intror Hx)) Hin). pose proof (each r (inside r (or_introl eq_refl))).
          lra. }
      pose proof (more N0 (fun x Hx => Hx) Hq). lra.
Qed.
Lemma theorem_1_boundary_twin : ~ (forall (pair : Type) (N0 N : list pair) (weight : pair -> R), incl N0 N ->
  (forall p, In p N0 -> 0 < weight p) -> (forall A, exists slope, fitted N0 weight A slope)
  /\ forall A slope, fitted N0 weight A slope ->
    ((forall p, In p N -> slope * A p = A p) <-> (exists p, In p N /\ A p <> 0) \/ (forall p, In p N -> A p = 0))).
Proof.
  intros H. set (A := fun p : nat => match p with O => 0 | _ => 1 end).
  destruct (H nat [0%nat] [0%nat; 1%nat] (fun _ => 1)) as [_ iff]; [intros p [E|[]]; left; exact E|intros; lra|].
  assert (fits : fitted [0%nat] (fun _ => 1) A 0) by (split; [unfold A; simpl; ring|reflexivity]).
  assert (E : 0 * A 1%nat = A 1%nat); [|unfold A in E; lra].
  apply (iff A 0 fits); [|right; left; reflexivity]. left. exists 1%nat. split; [right; left; reflexivity|unfold A;
    lra].
Qed.

(* SRC: a circuit gives each step its arguments and its operator; it is valid up to scale n if each step of the scales
   up
   to n comes out right.  SRC at n is the least number of different operators of a circuit that is valid up to n. *)
Definition used {step arguments operator : Type} (same : forall u v : operator, {u = v} + {u <> v})
  (steps : list step) (circuit : step -> arguments * operator) : nat :=
  length (nodup same (map (fun s => snd (circuit s)) steps)).
Definition valid {step arguments operator : Type} (right : step -> arguments -> operator -> Prop)
  (steps : list step) (circuit : step -> arguments * operator) : Prop :=
  forall s, In s steps -> right s (fst (circuit s)) (snd (circuit s)).
Definition is_src {step arguments operator : Type} (same : forall u v : operator, {u = v} + {u <> v})
  (right : step -> arguments -> operator -> Prop) (steps : list step) (k : nat) : Prop :=
  (exists circuit, valid right steps circuit /\ used same steps circuit = k)
  /\ forall circuit, valid right steps circuit -> (k <= used same steps circuit)%nat.

(* SRC never falls as the scale grows (part of claim src-monotone). *)
Theorem src_never_falls : forall (step arguments operator : Type) (same : forall u v : operator, {u = v} + {u <> v})
  (right : step -> arguments -> operator -> Prop) (steps : nat -> list step) n m k l,
  incl (steps n) (steps m) -> is_src same right (steps n) k -> is_src same right (steps m) l -> (k <= l)%nat.
Proof.
  intros step arguments operator same right steps n m k l sub [_ least] [[circuit [ok count]] _].
  apply Nat.le_trans with (used same (steps n) circuit).
  - apply least. intros s Hs. apply ok. apply sub. exact Hs.
  - rewrite <- count. unfold used. apply NoDup_incl_length; [apply NoDup_nodup|].
    intros u Hu. apply nodup_In in Hu. apply nodup_In. apply in_map_iff in Hu. destruct Hu as [s [E Hs]].
    apply in_map_iff. exists s. split; [exact E|apply sub; exact Hs].
Qed.
Lemma src_never_falls_twin : ~ (forall (step arguments operator : Type) (same : forall u v : operator, {u = v} + {u <>
  v})
  (right : step -> arguments -> operator -> Prop) (steps : nat -> list step) n m k l,
  incl (steps n) (steps m) -> is_src same right (steps n) k -> is_src same right (steps m) l -> (l <= k)%nat).
Proof.
  intros H. assert (1 <= 0)%nat; [|lia].
  apply (H unit unit unit (fun u v => match u, v with tt, tt => left eq_refl end) (fun _ _ _ => True)
    (fun n => match n with O => [] | _ => [tt] end) 0%nat 1%nat 0%nat 1%nat).
  - intros s [].
  - split; [exists (fun _ => (tt, tt)); split; [intros s []|reflexivity]|intros; apply Nat.le_0_l].
  - split; [exists (fun _ => (tt, tt)); split; [intros s _; exact I|reflexivity]|].
    intros circuit _. apply Nat.le_refl.
Qed.

(* Parity step by step: each step reads a symbol of the input and the last output; the mark = starts and ends. *)
Inductive symbol := zero | one | equals | stop.
Definition parity (x y : symbol) : symbol :=
  match x, y with
  | equals, _ => stop
  | one, one => zero | one, _ => one
  | _, one => one | _, _ => zero
  end.
Fixpoint outputs (u : symbol -> symbol -> symbol) (y : symbol) (input : list symbol) : list symbol :=
  match input with [] => [u equals y] | x :: rest => u x y :: outputs u (u x y) rest end.
Definition bits (input : list symbol) : Prop := forall x, In x input -> x = zero \/ x = one.

(* One operator serves parity at every scale, so SRC is 1 at scales 1 and 2;
   yet an operator that is right on every input
   of scale 1 is wrong at scale 2: an equal SRC leaves open which operator is learned
   (part of claim src-reading-needs-coverage). *)
Theorem equal_src_leaves_the_operator_open : exists u : symbol -> symbol -> symbol,
  (forall x, bits [x] -> outputs u equals [x] = outputs parity equals [x])
  /\ exists input, bits input /\ length input = 2%nat /\ outputs u equals input <> outputs parity equals input.
Proof.
  exists (fun x y => match x, y with zero, zero => one | _, _ => parity x y end). split.
  - intros x H. destruct (H x (or_introl eq_refl)); subst; reflexivity.
  - exists [zero; zero]. split; [|split; [reflexivity|discriminate]].
    intros x [E|[E|[]]]; left; congruence.
Qed.
Lemma equal_src_leaves_the_operator_open_twin : ~ (exists u : symbol -> symbol -> symbol,
  (forall x, bits [x] -> outputs u equals [x] = outputs parity equals [x])
  /\ exists input, bits input /\ length input = 1%nat /\ outputs u equals input <> outputs parity equals input).
Proof.
  intros [u [right [input [H [single differs]]]]]. destruct input as [|x [|y rest]]; try discriminate.
  apply differs. apply right. exact H.
Qed.
