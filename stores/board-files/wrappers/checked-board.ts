import type { Board } from '../types';
import { wrappedBoard } from './wrapped-board';

/**
 * The same board, with a check right before each change of a task.
 *
 * @param assertAllowed throws where the change must not be made
 */
export function checkedBoard(board: Board, assertAllowed: () => void): Board {
  return wrappedBoard(board, {
    async create(input, options) {
      assertAllowed();
      return board.create(input, options);
    },
    async update(id, change, writer) {
      assertAllowed();
      return board.update(id, change, writer);
    },
    async move(id, change, mover) {
      assertAllowed();
      return board.move(id, change, mover);
    },
    async remove(id, remover) {
      assertAllowed();
      return board.remove(id, remover);
    },
    async purge(id, release) {
      assertAllowed();
      return board.purge(id, release);
    },
  });
}
