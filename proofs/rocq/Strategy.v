(* Games, what it means that a side wins, strategies, and a checker of strategies with its proof. The rules of three games
   and nothing else have to be believed; `sortie convert` writes the strategies (docs/certificates.md). *)
From Coq Require Import List Bool Arith Lia.
Import ListNotations.

(* A game as the side of the claim sees it: `over p = Some true` where the game has ended as claimed. *)
Record game := {
  pos : Type;
  ours : pos -> bool;
  over : pos -> option bool;
  next : pos -> list pos;
}.

(* The side of the claim reaches what it claims, whatever the other side plays. *)
Inductive wins (g : game) : pos g -> Prop :=
| Ended p : over g p = Some true -> wins g p
| Chosen p q : over g p = None -> ours g p = true -> In q (next g p) -> wins g q -> wins g p
| Forced p : over g p = None -> ours g p = false -> next g p <> [] ->
    (forall q, In q (next g p) -> wins g q) -> wins g p.

(* A strategy: nothing where the game is over; the number of a move; or what follows every reply, in their order. *)
Inductive strategy :=
| Done
| Play (move : nat) (rest : strategy)
| Reply (rest : list strategy).

Fixpoint check (g : game) (s : strategy) (p : pos g) : bool :=
  match s, over g p with
  | Done, Some true => true
  | Play n rest, None =>
      ours g p && match nth_error (next g p) n with Some q => check g rest q | None => false end
  | Reply rests, None =>
      negb (ours g p) && match next g p with [] => false | _ => true end &&
      (fix all (ss : list strategy) (qs : list (pos g)) : bool :=
         match ss, qs with
         | [], [] => true
         | s :: ss, q :: qs => check g s q && all ss qs
         | _, _ => false
         end) rests (next g p)
  | _, _ => false
  end.

(* Induction that reaches the strategies within a list. *)
Fixpoint strategy_deep (P : strategy -> Prop) (done : P Done) (play : forall n s, P s -> P (Play n s))
    (reply : forall ss, Forall P ss -> P (Reply ss)) (s : strategy) : P s :=
  match s with
  | Done => done
  | Play n s => play n s (strategy_deep P done play reply s)
  | Reply ss => reply ss
      ((fix all ss : Forall P ss :=
          match ss with
          | [] => Forall_nil P
          | s :: ss => Forall_cons s (strategy_deep P done play reply s) (all ss)
          end) ss)
  end.

Theorem check_sound (g : game) : forall s p, check g s p = true -> wins g p.
Proof.
  induction s as [|n s IH|ss IH] using strategy_deep; intros p; simpl;
    destruct (over g p) as [[|]|] eqn:O; try discriminate.
  - intros _. now apply Ended.
  - rewrite andb_true_iff. intros [T C].
    destruct (nth_error (next g p) n) as [q|] eqn:N; [|discriminate].
    apply (Chosen g p q O T); [exact (nth_error_In _ _ N) | now apply IH].
  - rewrite !andb_true_iff. intros [[T E] A]. apply negb_true_iff in T.
    apply (Forced g p O T); [now destruct (next g p)|].
    clear O T E. revert A. generalize (next g p).
    induction IH as [|s ss H Hs IHs]; intros [|q qs] A r R; try discriminate; [destruct R|].
    apply andb_true_iff in A. destruct A as [A B], R as [<-|R]; [now apply H | now apply (IHs qs)].
Qed.

(* Nim: one to three are taken, who takes the last one wins. A position: what is left, and whose turn it is. *)
Definition nim (first : bool) : game := {|
  pos := nat * bool;
  ours p := Bool.eqb (snd p) first;
  over p := match fst p with 0 => Some (negb (Bool.eqb (snd p) first)) | _ => None end;
  next p := map (fun n => (fst p - n, negb (snd p))) (filter (fun n => n <=? fst p) [1; 2; 3]);
|}.

(* Boards: the stones of the first and of the second side by cell, and whose turn it is. *)
Definition board : Type := list (option bool) * bool.

Fixpoint put (cells : list (option bool)) (cell : nat) (side : bool) : list (option bool) :=
  match cells, cell with
  | [], _ => []
  | _ :: cells, 0 => Some side :: cells
  | c :: cells, S cell => c :: put cells cell side
  end.

Definition has (cells : list (option bool)) (side : bool) (cell : nat) : bool :=
  match nth cell cells None with Some s => Bool.eqb s side | None => false end.

Definition empty (cells : list (option bool)) (cell : nat) : bool :=
  match nth cell cells None with Some _ => false | None => true end.

Definition put_next (p : board) : list board :=
  map (fun cell => (put (fst p) cell (snd p), negb (snd p)))
    (filter (empty (fst p)) (seq 0 (length (fst p)))).

Definition full (cells : list (option bool)) : bool := forallb (fun c => match c with Some _ => true | None => false end) cells.

(* Noughts and crosses on 3x3; `draw`: whether a draw is as claimed. *)
Definition lines := [[0;1;2]; [3;4;5]; [6;7;8]; [0;3;6]; [1;4;7]; [2;5;8]; [0;4;8]; [2;4;6]].

Definition tictactoe (first draw : bool) : game := {|
  pos := board;
  ours p := Bool.eqb (snd p) first;
  over p :=
    let line side := existsb (forallb (has (fst p) side)) lines in
    if line first then Some true else if line (negb first) then Some false
    else if full (fst p) then Some draw else None;
  next := put_next;
|}.

(* Hex on n x n, cells row by row: the first side connects the first row and the last, the second the columns. *)
Definition beside (n a b : nat) : bool :=
  let '(x, y, u, v) := (a mod n, a / n, b mod n, b / n) in
  ((y =? v) && ((x =? u + 1) || (u =? x + 1))) || ((x =? u) && ((y =? v + 1) || (v =? y + 1)))
  || ((y =? v + 1) && (u =? x + 1)) || ((v =? y + 1) && (x =? u + 1)).

Fixpoint grow (fuel n : nat) (stones reached : list nat) : list nat :=
  match fuel with
  | 0 => reached
  | S fuel =>
      let '(more, rest) := partition (fun a => existsb (beside n a) reached) stones in
      match more with [] => reached | _ => grow fuel n rest (more ++ reached) end
  end.

Definition connected (n : nat) (cells : list (option bool)) (side : bool) : bool :=
  let along a := if side then a / n else a mod n in
  let '(edge, stones) := partition (fun a => along a =? 0) (filter (has cells side) (seq 0 (n * n))) in
  existsb (fun a => along a =? n - 1) (grow (n * n) n stones edge).

Definition hex (n : nat) (first : bool) : game := {|
  pos := board;
  ours p := Bool.eqb (snd p) first;
  over p := if connected n (fst p) first then Some true
            else if connected n (fst p) (negb first) then Some false else None;
  next := put_next;
|}.
