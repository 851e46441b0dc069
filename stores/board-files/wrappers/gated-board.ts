import type { Board } from '../types';
import type { CompletionGate } from './completion-gate';
import { wrappedBoard } from './wrapped-board';

/**
 * The same board, on which no task becomes `done` past the gate through any API. Edits of a task's file pass no gate: the board
 * belongs to its editors.
 */
export function gatedBoard(board: Board, gate: CompletionGate): Board {
  return wrappedBoard(board, {
    create: (input, options) => gate.create(input, () => board.create(input, options)),
    update: (id, change, writer) => gate.change(change, (guarded) => board.update(id, guarded, writer)),
    move: (id, change, mover) => gate.change(change, (guarded) => board.move(id, guarded, mover)),
  });
}
