(* Position-only linear attention: Theorems 1 and 2, SRC, and what an equal SRC leaves open, for all sizes. *)

Require Import Reals Lra Lia List Bool Arith.
Import ListNotations.
Open Scope R_scope.

(* Interval without its third that holds x. *)
Definition narrowed (I : R * R) (x : R) : R * R :=
  let (a, b) := I in
  if Rle_dec x ((a + b) / 2) then (a + 2 * (b - a) / 3, b) else (a, a + (b - a) / 3).
Fixpoint narrow (u : nat -> R) (a b : R) (n : nat) : R * R :=
  match n with O => (a, b) | S m => narrowed (narrow u a b m) (u m) end.

Lemma narrow_spec : forall u a b n, a < b ->
  fst (narrow u a b n) < snd (narrow u a b n)
  /\ fst (narrow u a b n) <= fst (narrow u a b (S n))
  /\ snd (narrow u a b (S n)) <= snd (narrow u a b n)
  /\ (u n < fst (narrow u a b (S n)) \/ snd (narrow u a b (S n)) < u n).
Proof.
  intros u a b n H. assert (lt : fst (narrow u a b n) < snd (narrow u a b n)).
  { induction n as [|n IH]; [exact H|]. simpl. destruct (narrow u a b n) as [x y]. simpl in *.
    destruct (Rle_dec (u n) ((x + y) / 2)); simpl; lra. }
  split; [exact lt|]. simpl. destruct (narrow u a b n) as [x y]. simpl in *.
  destruct (Rle_dec (u n) ((x + y) / 2)); simpl; lra.
Qed.

(* Theorem 1 (1a): whatever a fixed learner makes of the training data with each of countably many relations, its outputs
   miss some value of an entry beyond training, within any bound M > 0 (part of claim pola-1a).
   False twin: "learned n <> entry" becomes "learned n = entry". *)
Theorem theorem_1a : forall (learned : nat -> R) M, 0 < M ->
  exists entry, Rabs entry <= M /\ forall n, learned n <> entry.
Proof.
  intros u M HM. assert (H : - M < M) by lra.
  assert (mono : forall m n, fst (narrow u (- M) M m) <= fst (narrow u (- M) M (m + n))
    /\ snd (narrow u (- M) M (m + n)) <= snd (narrow u (- M) M m)).
  { intros m n. induction n as [|n IH]; [rewrite Nat.add_0_r; lra|].
    rewrite Nat.add_succ_r. pose proof (narrow_spec u (- M) M (m + n) H). lra. }
  assert (below : forall m n, fst (narrow u (- M) M m) <= snd (narrow u (- M) M n)).
  { intros m n. destruct (mono m n) as [A _]. destruct (mono n m) as [_ B]. rewrite Nat.add_comm in B.
    pose proof (narrow_spec u (- M) M (m + n) H). lra. }
  destruct (completeness (fun x => exists n, x = fst (narrow u (- M) M n))) as [l [upper least]].
  - exists M. intros x [n E]. subst. apply (below n O).
  - exists (- M), O. reflexivity.
  - assert (in_all : forall n, fst (narrow u (- M) M n) <= l <= snd (narrow u (- M) M n)).
    { intros n. split; [apply upper; exists n; reflexivity|].
      apply least. intros x [m E]. subst. apply below. }
    exists l. split.
    + pose proof (in_all O) as B. simpl in B. apply Rabs_le. lra.
    + intros n E. destruct (narrow_spec u (- M) M n H) as [_ [_ [_ outside]]].
      pose proof (in_all (S n)). rewrite E in outside. lra.
Qed.

(* Sum over a list. *)
Fixpoint total {A : Type} (f : A -> R) (l : list A) : R := match l with [] => 0 | x :: r => f x + total f r end.

(* Theorem 1 (1b): if each of some different targets is the output with probability 1 - delta or more, and the
   probabilities sum to at most 1, then their number times 1 - delta is at most 1 (part of claim pola-1b).
   False twin: "INR (length targets) * (1 - delta) <= 1" becomes "INR (length targets) <= 1". *)
Theorem theorem_1b : forall (A : Type) (p : A -> R) (targets : list A) delta, NoDup targets ->
  total p targets <= 1 -> (forall t, In t targets -> 1 - delta <= p t) -> INR (length targets) * (1 - delta) <= 1.
Proof.
  intros A p targets delta _ sum each. apply Rle_trans with (total p targets); [clear sum|exact sum].
  induction targets as [|t r IH]; [simpl; lra|]. change (length (t :: r)) with (S (length r)). rewrite S_INR. simpl total.
  pose proof (each t (or_introl eq_refl)). assert (INR (length r) * (1 - delta) <= total p r).
  { apply IH. intros x Hx. apply each. right. exact Hx. }
  lra.
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
  - split; [intros [E|[]]; subst; split; [reflexivity|intros x []]|]. intros [E _]. left. destruct w; [reflexivity|discriminate].
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

(* Theorem 1 (1e): of the extensions of B0 by D entries, exactly (r + 1)^D keep the LRC r of B0 (claim pola-1e-count).
   False twin: "((lrc B0 + 1) ^ D)%nat" becomes "(lrc B0 ^ D)%nat". *)
Theorem theorem_1e : forall B0 D, exists extensions : list (list R), NoDup extensions
  /\ length extensions = ((lrc B0 + 1) ^ D)%nat
  /\ forall w, In w extensions <-> length w = D /\ lrc (B0 ++ w) = lrc B0.
Proof.
  intros B0 D. exists (words (0 :: values B0) D).
  assert (nodup : NoDup (0 :: values B0)).
  { constructor; [|apply values_nodup]. intros H. apply in_values in H. intuition. }
  split; [apply words_nodup; exact nodup|]. split.
  - rewrite words_length. simpl length. unfold lrc. f_equal. lia.
  - intros w. rewrite words_spec. apply and_iff_compat_l.
    rewrite (same_lrc B0 (B0 ++ w)) by (intros; apply in_or_app; left; assumption). split; intros H.
    + intros x Hx nz. apply in_app_or in Hx. destruct Hx as [Hx|Hx]; [exact Hx|].
      apply H in Hx. destruct Hx as [E|Hx]; [congruence|]. apply in_values in Hx. intuition.
    + intros x Hx. destruct (Req_dec x 0) as [E|nz]; [left; congruence|right].
      apply in_values. split; [|exact nz]. apply H; [apply in_or_app; right; exact Hx|exact nz].
Qed.

(* Theorem 2: pairs of positions with their entries A; training meets the pairs of N0, all pairs are those of N.
   A relation phi gives each pair a label.  The learner starts at zero: a label that training meets ends where the errors
   of its class balance (positive weights), and a label that is not met stays 0. *)
Definition learned {pair label : Type} (same : forall k l : label, {k = l} + {k <> l})
  (N0 : list pair) (weight A : pair -> R) (phi : pair -> label) (theta : label -> R) : Prop :=
  (forall k, (exists p, In p N0 /\ phi p = k) ->
    total (fun p => weight p * (A p - theta k)) (filter (fun p => if same (phi p) k then true else false) N0) = 0)
  /\ (forall k, (forall p, In p N0 -> phi p <> k) -> theta k = 0).
Definition generalizes {pair label : Type} (N : list pair) (A : pair -> R) (phi : pair -> label) (theta : label -> R) :=
  forall p, In p N -> theta (phi p) = A p.

Lemma balance : forall (pair : Type) (w A : pair -> R) a t l, (forall p, In p l -> 0 < w p /\ A p = a) -> l <> [] ->
  total (fun p => w p * (A p - t)) l = 0 -> t = a.
Proof.
  intros pair w A a t l each nonempty zero.
  assert (H : total (fun p => w p * (A p - t)) l = (a - t) * total w l /\ 0 < total w l).
  { clear zero. induction l as [|p r IH]; [congruence|]. destruct (each p (or_introl eq_refl)) as [pos E].
    destruct r as [|q r]; [simpl; rewrite E; split; [ring|lra]|].
    destruct IH as [B C]; [intros x Hx; apply each; right; exact Hx|discriminate|].
    simpl total in *. rewrite B, E. split; [ring|lra]. }
  destruct H as [B C]. rewrite B in zero. apply Rmult_integral in zero. lra.
Qed.

(* Theorem 2 (2a): for a fixed relation, what is learned is right on all pairs if and only if A is constant on the
   classes of the relation and 0 on the classes that training never meets (part of claim pola-2a).
   False twin: "-> A p = 0))" becomes "-> A p = 1))". *)
Theorem theorem_2a : forall (pair label : Type) (same : forall k l : label, {k = l} + {k <> l})
  (N0 N : list pair) (weight A : pair -> R) (phi : pair -> label) (theta : label -> R),
  incl N0 N -> (forall p, In p N0 -> 0 < weight p) -> learned same N0 weight A phi theta ->
  (generalizes N A phi theta <->
    (forall p q, In p N -> In q N -> phi p = phi q -> A p = A q)
    /\ (forall p, In p N -> (forall q, In q N0 -> phi q <> phi p) -> A p = 0)).
Proof.
  intros pair label same N0 N w A phi theta sub pos [met unmet]. split.
  - intros right. split.
    + intros p q Hp Hq E. rewrite <- (right p Hp), <- (right q Hq), E. reflexivity.
    + intros p Hp never. rewrite <- (right p Hp). apply unmet. exact never.
  - intros [constant zero] p Hp.
    set (class := filter (fun q => if same (phi q) (phi p) then true else false) N0).
    assert (spec : forall q, In q class <-> In q N0 /\ phi q = phi p).
    { intros q. unfold class. rewrite filter_In. destruct (same (phi q) (phi p)); intuition congruence. }
    destruct class as [|q r] eqn:E.
    + assert (never : forall q, In q N0 -> phi q <> phi p).
      { intros q Hq Eq. apply (proj2 (spec q)). split; assumption. }
      rewrite (unmet _ never). symmetry. apply zero; assumption.
    + apply (balance pair w A (A p) (theta (phi p)) (q :: r)); [|discriminate|].
      * intros x Hx. apply spec in Hx. destruct Hx as [Hx Ex]. split; [apply pos; exact Hx|].
        apply constant; [apply sub; exact Hx|exact Hp|exact Ex].
      * rewrite <- E. apply met. exists q. apply spec. left. reflexivity.
Qed.

(* Theorem 2 (2c): a relation that is consistent with A and whose labels training meets suffices (part of claim pola-2c).
   False twin: "exists q, In q N0 /\ phi q = phi p" becomes "exists q, In q N /\ phi q = phi p". *)
Theorem theorem_2c : forall (pair label : Type) (same : forall k l : label, {k = l} + {k <> l})
  (N0 N : list pair) (weight A : pair -> R) (phi : pair -> label) (theta : label -> R),
  incl N0 N -> (forall p, In p N0 -> 0 < weight p) -> learned same N0 weight A phi theta ->
  (forall p q, In p N -> In q N -> phi p = phi q -> A p = A q) ->
  (forall p, In p N -> exists q, In q N0 /\ phi q = phi p) -> generalizes N A phi theta.
Proof.
  intros pair label same N0 N w A phi theta sub pos learns consistent covered.
  apply (theorem_2a pair label same N0 N w A phi theta sub pos learns). split; [exact consistent|].
  intros p Hp never. destruct (covered p Hp) as [q [Hq E]]. exfalso. apply (never q); assumption.
Qed.

(* Theorem 2 (2b): some relation generalizes if and only if the LRC of all pairs is that of training (claim pola-2b).
   False twin: "lrc (map A N) = lrc (map A N0)" becomes "lrc (map A N) = S (lrc (map A N0))". *)
Theorem theorem_2b : forall (pair : Type) (N0 N : list pair) (weight A : pair -> R),
  incl N0 N -> (forall p, In p N0 -> 0 < weight p) ->
  ((exists (phi : pair -> R) theta, learned Req_EM_T N0 weight A phi theta /\ generalizes N A phi theta)
   <-> lrc (map A N) = lrc (map A N0)).
Proof.
  intros pair N0 N w A sub pos. rewrite (same_lrc (map A N0) (map A N)).
  2: { intros x Hx. apply in_map_iff in Hx. destruct Hx as [p [E Hp]]. apply in_map_iff. exists p. split; [exact E|apply sub; exact Hp]. }
  split.
  - intros [phi [theta [learns right]]] x Hx nz. apply in_map_iff in Hx. destruct Hx as [p [E Hp]]. subst.
    apply (theorem_2a pair R Req_EM_T N0 N w A phi theta sub pos learns) in right. destruct right as [constant zero].
    destruct (in_dec Req_EM_T (phi p) (map phi N0)) as [H|H].
    + apply in_map_iff in H. destruct H as [q [Eq Hq]]. apply in_map_iff. exists q. split; [|exact Hq].
      apply constant; [apply sub; exact Hq|exact Hp|exact Eq].
    + exfalso. apply nz. apply zero; [exact Hp|]. intros q Hq Eq. apply H. apply in_map_iff. exists q. split; assumption.
  - intros no_new. exists A, (fun k => if in_dec Req_EM_T k (map A N0) then k else 0). split; [split|].
    + intros k [p [Hp E]]. destruct (in_dec Req_EM_T k (map A N0)) as [H|H].
      * clear. induction N0 as [|q r IH]; [reflexivity|]. simpl. destruct (Req_EM_T (A q) k) as [E|E]; [|exact IH].
        simpl. rewrite E, IH. ring.
      * exfalso. apply H. apply in_map_iff. exists p. split; assumption.
    + intros k never. destruct (in_dec Req_EM_T k (map A N0)) as [H|H]; [|reflexivity].
      apply in_map_iff in H. destruct H as [q [E Hq]]. exfalso. apply (never q Hq E).
    + intros p Hp. destruct (in_dec Req_EM_T (A p) (map A N0)) as [H|H]; [reflexivity|].
      destruct (Req_dec (A p) 0) as [E|nz]; [symmetry; exact E|]. exfalso. apply H. apply no_new; [|exact nz].
      apply in_map_iff. exists p. split; [reflexivity|exact Hp].
Qed.

(* SRC: a circuit gives each step its arguments and its operator; it is valid up to scale n if each step of the scales up
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

(* SRC never falls as the scale grows (part of claim src-monotone).
   False twin: "(k <= l)%nat" becomes "(l <= k)%nat". *)
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

(* One operator serves parity at every scale, so SRC is 1 at scales 1 and 2; yet an operator that is right on every input
   of scale 1 is wrong at scale 2: an equal SRC leaves open which operator is learned
   (part of claim src-reading-needs-coverage).
   False twin: "length input = 2%nat" becomes "length input = 1%nat". *)
Theorem equal_src_leaves_the_operator_open : exists u : symbol -> symbol -> symbol,
  (forall x, bits [x] -> outputs u equals [x] = outputs parity equals [x])
  /\ exists input, bits input /\ length input = 2%nat /\ outputs u equals input <> outputs parity equals input.
Proof.
  exists (fun x y => match x, y with zero, zero => one | _, _ => parity x y end). split.
  - intros x H. destruct (H x (or_introl eq_refl)); subst; reflexivity.
  - exists [zero; zero]. split; [|split; [reflexivity|discriminate]].
    intros x [E|[E|[]]]; left; congruence.
Qed.
