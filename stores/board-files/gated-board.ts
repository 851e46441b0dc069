import type { Board } from './types';
import { wrappedBoard } from './wrapped-board';
import type { CompletionGate } from '../../runs/ceremonies/completion-gate';

/**
 * The same board, on which no task becomes `done` past the gate: whoever changes it, and however. What a person writes into
 * a task's file passes no gate; it is their board.
 */
export function gatedBoard(board: Board, gate: CompletionGate): Board {
  return wrappedBoard(board, {
    create: (input, options) => gate.create(input, () => board.create(input, options)),
    update: (id, change, writer) => gate.change(change, (guarded) => board.update(id, guarded, writer)),
    move: (id, to, change, mover) => gate.change(change, (guarded) => board.move(id, to, guarded, mover)),
  });
}
