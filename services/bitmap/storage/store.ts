import { mkdir, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log as Logger } from '../../../platform/log/log';
import { syncPath } from '../../../platform/processes/disk/sync-path';
import { Catalog } from '../engine/catalog';
import type { Change } from '../engine/change';
import { ByteWriter, DamagedBytesError } from './bytes';
import { readChanges, writeChange } from './change-bytes';
import { quarantine, quarantineBytes } from './files';
import { type Finding, Log, logSegments, readSegment } from './log';
import { isSnapshotName, readSnapshot, snapshotName, writeSnapshot } from './snapshot';

export interface StoreOptions {
  /** Absolute; made when missing. */
  directory: string;
  logger: Logger;
  /** The disk took a write no more: memory is ahead of it, the process has to end. */
  onFailure: (error: Error) => void;
  /** From how many bytes of log on snapshots are written. More when the data is larger than that. */
  checkpointBytes?: number;
}

const defaultCheckpointBytes = 64 * 1_048_576;
/** However large the data is, the log does not grow beyond this before snapshots are written: a recovery reads a segment whole. */
const maxLogBytes = 1_073_741_824;

/**
 * The catalog with its files: a log of changes that makes each write durable before it is acknowledged, and a snapshot for
 * each index and field that lets the log stay short.
 */
export class Store {
  readonly catalog = new Catalog((change) => this.record(change));
  /** What recovery found wrong, for `/status`. */
  readonly findings: Finding[] = [];
  private readonly writer = new ByteWriter();
  /** Numbers of what has changed since its snapshot. */
  private readonly dirty = new Set<number>();
  private checkpointing: Promise<void> | undefined;
  private snapshotBytes = 0;
  private log: Log | undefined;

  private constructor(private readonly options: StoreOptions) {}

  /** Recovers what is in the directory, and is ready for writes. */
  static async open(options: StoreOptions): Promise<Store> {
    const store = new Store(options);
    await mkdir(options.directory, { recursive: true });
    await store.recover();
    return store;
  }

  /** Whether something was written that `commit` was not called for yet. */
  get hasUncommitted(): boolean {
    return this.writer.size > 0;
  }

  /** Bytes of log since the last snapshots. */
  get logBytes(): number {
    return this.log?.size ?? 0;
  }

  /** Writes of the log to the disk since the start. */
  get logWrites(): number {
    return this.log?.writes ?? 0;
  }

  /** Bytes of all snapshots. */
  get snapshotSize(): number {
    return this.snapshotBytes;
  }

  private record(change: Change): void {
    this.dirty.add(change.target);
    writeChange(this.writer, change);
  }

  /**
   * Makes durable what was written since the last time, as a whole: after a crash it is all there or not at all. Resolves
   * when it is on disk; at once when nothing was written.
   */
  async commit(): Promise<void> {
    if (this.writer.size === 0 || !this.log) {
      return;
    }
    await this.log.append(this.writer.take());
    const { checkpointBytes = defaultCheckpointBytes } = this.options;
    if (this.log.size > Math.max(checkpointBytes, Math.min(this.snapshotBytes / 2, maxLogBytes))) {
      void this.checkpoint();
    }
  }

  /** Writes snapshots of what has changed, and drops the log they replace. One at a time. */
  checkpoint(): Promise<void> {
    this.checkpointing ??= this.writeSnapshots()
      .catch((error: unknown) => this.options.logger.error({ err: error }, 'snapshot write failed; log retained'))
      .finally(() => (this.checkpointing = undefined));
    return this.checkpointing;
  }

  private async writeSnapshots(): Promise<void> {
    const { log } = this;
    if (!log) {
      return;
    }
    const { directory } = this.options;
    const complete = await log.rotate();
    // Not before: whatever changed until the log continued in a new segment is in one that is removed below.
    const changed = [...this.dirty];
    this.dirty.clear();
    try {
      for (const number of changed) {
        const thing = this.catalog.find(number);
        if (thing) {
          await writeSnapshot(directory, thing, () => log.settled());
        }
      }
    } catch (error) {
      for (const number of changed) {
        this.dirty.add(number);
      }
      throw error;
    }
    await this.removeOrphans(log);
    await syncPath(directory);
    await log.removeThrough(complete);
    this.snapshotBytes = await sizeOfSnapshots(directory);
  }

  /**
   * Removes the snapshots of what was removed, once the log has that on disk: killed in between, a recovery would have half
   * of it. Those of fields first, which cannot be read without their index.
   */
  private async removeOrphans(log: Log): Promise<void> {
    const { directory } = this.options;
    const expected = new Set(this.catalog.all().map(({ number }) => snapshotName(number)));
    await log.settled();
    for (const name of (await readdir(directory)).sort().reverse()) {
      if (isSnapshotName(name) && !expected.has(name)) {
        await unlink(join(directory, name));
      }
    }
  }

  private async recover(): Promise<void> {
    const { directory, logger, onFailure } = this.options;
    const started = performance.now();
    const names = (await readdir(directory)).sort();
    for (const name of names) {
      if (name.endsWith('.new')) {
        await unlink(join(directory, name));
      }
    }
    await this.loadSnapshots(names.filter(isSnapshotName));
    const segments = await logSegments(directory);
    let replayed = 0;
    for (const segment of segments) {
      replayed += await this.replay(segment);
    }
    this.log = await Log.open(directory, (segments.at(-1) ?? 0) + 1, onFailure);
    for (const finding of this.findings) {
      logger.error(finding, 'bitmap index file damaged');
    }
    const ms = Math.round(performance.now() - started);
    logger.info({ snapshots: this.snapshotBytes, replayed, ms }, 'bitmap index recovered');
    if (this.dirty.size > 0) {
      await this.checkpoint();
    }
  }

  /** Indexes come before their fields, because their numbers are lower. */
  private async loadSnapshots(names: string[]): Promise<void> {
    const { directory } = this.options;
    for (const name of names) {
      const { thing, problem, size } = await readSnapshot(directory, name, this.catalog);
      this.snapshotBytes += size;
      if (problem === undefined) {
        continue;
      }
      const aside = await quarantine(directory, name);
      this.findings.push({ file: name, problem: `${problem}; moved to ${aside}`, lostBytes: size });
      if (!thing) {
        continue;
      }
      thing.damage = { reason: `its file ${name} was damaged (${problem}) and put aside in ${aside}` };
      this.dirty.add(thing.number);
    }
  }

  private async replay(segment: number): Promise<number> {
    const { directory } = this.options;
    const { bodies, findings, damaged } = await readSegment(directory, segment);
    this.findings.push(...findings);
    for (const bytes of damaged) {
      await quarantineBytes(directory, `log-${segment}`, bytes);
    }
    for (const body of bodies) {
      try {
        for (const change of readChanges(body)) {
          this.catalog.apply(change);
          this.dirty.add(change.target);
        }
      } catch (error) {
        if (!(error instanceof DamagedBytesError)) {
          throw error;
        }
        this.findings.push({ file: `log-${segment}`, problem: error.message, lostBytes: body.length });
        await quarantineBytes(directory, `log-${segment}`, body);
      }
    }
    return bodies.length;
  }

  /** Snapshots what has changed, and closes. */
  async close(): Promise<void> {
    await this.commit();
    await this.checkpointing;
    if (this.dirty.size > 0) {
      await this.checkpoint();
    }
    await this.log?.close();
    this.log = undefined;
  }
}

async function sizeOfSnapshots(directory: string): Promise<number> {
  const names = (await readdir(directory)).filter(isSnapshotName);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size));
  return sizes.reduce((total, size) => total + size, 0);
}
