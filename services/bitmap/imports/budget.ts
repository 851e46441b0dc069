import { ImportError } from './import-error';

/** Rows, counted once for each of their views, that one import may write to. */
export const maxRows = 100_000;
/** What the positions of one import may take once they are expanded, in bytes. */
const maxExpandedBytes = 128 * 1_048_576;

/** What is left for one import: others wait until it is done, and all of it is held in memory. */
export class ImportBudget {
  private rows = maxRows;
  private bytes = maxExpandedBytes;

  /** @throws ImportError 413 for one row too many */
  row(): void {
    this.rows -= 1;
    if (this.rows < 0) {
      throw new ImportError(`an import writes to at most ${maxRows} rows; import in parts`, 413);
    }
  }

  /** @throws ImportError 413 */
  expanded(bytes: number): void {
    this.bytes -= bytes;
    if (this.bytes < 0) {
      throw new ImportError(
        `these positions take more than ${maxExpandedBytes} bytes once they are expanded; import them in parts`,
        413,
      );
    }
  }
}
