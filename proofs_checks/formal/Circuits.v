(* Circuits token by token: training settles the entries of operators that it reads, and no others. *)

Require Import List Arith Lia.
Import ListNotations.

(* At scale n, step k of a circuit applies operator `operator n k` to the tokens at the positions `places n k` of the
   sequence so far, from 0, and its token joins the sequence. All of a task but its operators: *)
Record wiring := { steps : nat -> nat; operator : nat -> nat -> nat; places : nat -> nat -> list nat }.
(* An entry of an operator is a key, the tokens that it is applied to, with the token that it gives. *)
Definition operators (token : Type) := nat -> list token -> token.
Definition key {token : Type} (mark : token) (w : wiring) (n k : nat) (so_far : list token) : list token :=
  map (fun place => nth place so_far mark) (places w n k).
Fixpoint run {token : Type} (mark : token) (w : wiring) (u : operators token) (n : nat) (prompt : list token) (k : nat)
  : list token :=
  match k with
  | O => prompt
  | S j => let so_far := run mark w u n prompt j in so_far ++ [u (operator w n j) (key mark w n j so_far)]
  end.
Definition sequence {token : Type} (mark : token) (w : wiring) (u : operators token) (n : nat) (prompt : list token) :=
  run mark w u n prompt (steps w n).
(* The circuit reads key x of operator o on a prompt. *)
Definition reads {token : Type} (mark : token) (w : wiring) (u : operators token) n prompt (o : nat) (x : list token) :=
  exists k, (k < steps w n)%nat /\ operator w n k = o /\ key mark w n k (run mark w u n prompt k) = x.
(* The same operators but for one entry. *)
Definition changed {token : Type} (same : forall a b : token, {a = b} + {a <> b}) (u : operators token)
  (o : nat) (x : list token) (v : token) : operators token :=
  fun p y => if Nat.eq_dec p o then if list_eq_dec same y x then v else u p y else u p y.

Lemma run_length : forall token (mark : token) w u n prompt k,
  length (run mark w u n prompt k) = (length prompt + k)%nat.
Proof.
  intros. induction k as [|k IH]; simpl; [lia|]. rewrite app_length, IH. simpl. lia.
Qed.
Lemma run_starts : forall token (mark : token) w u n prompt k j, (j <= k)%nat ->
  firstn (length prompt + j) (run mark w u n prompt k) = run mark w u n prompt j.
Proof.
  intros token mark w u n prompt k j H. induction k as [|k IH].
  - replace j with 0%nat by lia. simpl. apply firstn_all2. lia.
  - destruct (Nat.eq_dec j (S k)) as [->|other].
    + apply firstn_all2. rewrite run_length. lia.
    + simpl. rewrite firstn_app, run_length. replace (length prompt + j - (length prompt + k))%nat with 0%nat by lia.
      rewrite firstn_O, app_nil_r. apply IH. lia.
Qed.
Lemma equal_entries_give_equal_runs : forall token (mark : token) w u v n prompt k,
  (forall j, (j < k)%nat -> v (operator w n j) (key mark w n j (run mark w u n prompt j))
    = u (operator w n j) (key mark w n j (run mark w u n prompt j))) ->
  run mark w v n prompt k = run mark w u n prompt k.
Proof.
  intros token mark w u v n prompt k. induction k as [|k IH]; intros same; [reflexivity|].
  simpl. rewrite IH by (intros; apply same; lia). rewrite same by lia. reflexivity.
Qed.
Lemma equal_sequences_have_equal_entries : forall token (mark : token) w u v n prompt o x,
  sequence mark w v n prompt = sequence mark w u n prompt -> reads mark w u n prompt o x -> v o x = u o x.
Proof.
  intros token mark w u v n prompt o x same [k [Hk [<- <-]]].
  assert (at_step : forall j, (j <= steps w n)%nat -> run mark w v n prompt j = run mark w u n prompt j).
  { intros j Hj. rewrite <- (run_starts _ mark w v n prompt (steps w n) j Hj).
    rewrite <- (run_starts _ mark w u n prompt (steps w n) j Hj). f_equal. exact same. }
  pose proof (at_step (S k) ltac:(lia)) as next. simpl in next. rewrite (at_step k) in next by lia.
  apply app_inv_head in next. injection next as next. exact next.
Qed.

(* Coverage decides. Prompts of each scale, a wiring and operators u make a task; training shows its sequences up to
   scale N0. If training reads every entry that a prompt of a later scale reads, all operators that are right in
   training are right there. If it does not read an entry that the prompt reads, another token v in this entry makes a
   second task of the same wiring: its sequences in training are the same, that of the prompt is another, and no
   learner, which has the training alone, is right about the prompt in both tasks
   (claim src-coverage-decides) (part of claim src-reading-needs-coverage). *)
Theorem coverage_decides : forall (token : Type) (mark : token) (same : forall a b : token, {a = b} + {a <> b})
  (w : wiring) (u : operators token) (prompts : nat -> list token -> Prop) (N0 N : nat) (prompt : list token),
  ((forall o x, reads mark w u N prompt o x ->
      exists n p, (n <= N0)%nat /\ prompts n p /\ reads mark w u n p o x) ->
    forall v : operators token,
    (forall n p, (n <= N0)%nat -> prompts n p -> sequence mark w v n p = sequence mark w u n p) ->
    sequence mark w v N prompt = sequence mark w u N prompt)
  /\ forall o x, reads mark w u N prompt o x ->
    (forall n p, (n <= N0)%nat -> prompts n p -> ~ reads mark w u n p o x) ->
    forall v, v <> u o x ->
    let second := changed same u o x v in
    (forall n p, (n <= N0)%nat -> prompts n p -> sequence mark w second n p = sequence mark w u n p)
    /\ sequence mark w second N prompt <> sequence mark w u N prompt
    /\ forall learned : (nat -> list token -> list token) -> nat -> list token -> list token,
      (forall f g, (forall n p, (n <= N0)%nat -> prompts n p -> f n p = g n p) -> learned f N prompt = learned g N prompt) ->
      ~ (learned (sequence mark w u) N prompt = sequence mark w u N prompt
        /\ learned (sequence mark w second) N prompt = sequence mark w second N prompt).
Proof.
  intros token mark same w u prompts N0 N prompt. split.
  - intros covered v right. unfold sequence. apply equal_entries_give_equal_runs. intros j Hj.
    destruct (covered (operator w N j) (key mark w N j (run mark w u N prompt j))) as [n [p [Hn [Hp Hr]]]].
    { exists j. auto. }
    exact (equal_sequences_have_equal_entries _ mark w u v n p _ _ (right n p Hn Hp) Hr).
  - intros o x Hr unread v other second.
    assert (alike : forall n p, (n <= N0)%nat -> prompts n p -> sequence mark w second n p = sequence mark w u n p).
    { intros n p Hn Hp. unfold sequence. apply equal_entries_give_equal_runs. intros j Hj. unfold second, changed.
      destruct (Nat.eq_dec (operator w n j) o) as [E|]; [|reflexivity].
      destruct (list_eq_dec same (key mark w n j (run mark w u n p j)) x) as [F|]; [|reflexivity].
      exfalso. apply (unread n p Hn Hp). exists j. auto. }
    assert (differ : sequence mark w second N prompt <> sequence mark w u N prompt).
    { intros equal. apply other. rewrite <- (equal_sequences_have_equal_entries _ mark w u second N prompt o x equal Hr).
      unfold second, changed. destruct (Nat.eq_dec o o); [|congruence]. destruct (list_eq_dec same x x); congruence. }
    split; [exact alike|split; [exact differ|]]. intros learned blind [first last]. apply differ.
    rewrite <- first, <- last. apply blind. exact alike.
Qed.
Lemma coverage_decides_twin : ~ (forall (token : Type) (mark : token) (same : forall a b : token, {a = b} + {a <> b})
  (w : wiring) (u : operators token) (prompts : nat -> list token -> Prop) (N0 N : nat) (prompt : list token),
  ((forall o x, reads mark w u N prompt o x ->
      exists n p, (n <= N0)%nat /\ prompts n p /\ reads mark w u n p o x) ->
    forall v : operators token,
    (forall n p, (n <= N0)%nat -> prompts n p -> sequence mark w v n p = sequence mark w u n p) ->
    sequence mark w v N prompt = sequence mark w u N prompt)
  /\ forall o x, reads mark w u N prompt o x ->
    (forall n p, (n <= N0)%nat -> prompts n p -> ~ reads mark w u n p o x) ->
    forall v,
    let second := changed same u o x v in
    (forall n p, (n <= N0)%nat -> prompts n p -> sequence mark w second n p = sequence mark w u n p)
    /\ sequence mark w second N prompt <> sequence mark w u N prompt
    /\ forall learned : (nat -> list token -> list token) -> nat -> list token -> list token,
      (forall f g, (forall n p, (n <= N0)%nat -> prompts n p -> f n p = g n p) -> learned f N prompt = learned g N prompt) ->
      ~ (learned (sequence mark w u) N prompt = sequence mark w u N prompt
        /\ learned (sequence mark w second) N prompt = sequence mark w second N prompt)).
Proof.
  intros H. pose (w := {| steps := fun _ => 1%nat; operator := fun _ _ => 0%nat; places := fun _ _ => [] |}).
  destruct (H bool true Bool.bool_dec w (fun _ _ => true) (fun _ _ => False) 0%nat 0%nat []) as [_ open].
  destruct (open 0%nat []) with (v := true) as [_ [differ _]].
  - exists 0%nat. simpl. auto.
  - intros n p _ [].
  - apply differ. reflexivity.
Qed.
