import type { Candidate, Turn } from './schedule';

/** A line, as far as the choice has come in it. */
interface Waiting {
  peek(): Candidate | undefined;
}

/** The entries of one effective priority: a set of lines for each workspace, which are served in turns of `burst`. */
export class Level<T extends Waiting> {
  private readonly workspaces = new Map<string, Set<T>>();
  /** By name, so that the order of turns does not depend on who waits; sorted when the first is asked for. */
  private order: string[] | undefined;

  constructor(
    private turn: Turn | undefined,
    private readonly burst: number,
  ) {}

  add(workspaceId: string, line: T): void {
    const lines = this.workspaces.get(workspaceId);
    if (lines) lines.add(line);
    else this.workspaces.set(workspaceId, new Set([line]));
  }

  /** Takes out a line that has no more entries of this level. */
  remove(workspaceId: string, line: T): void {
    const lines = this.workspaces.get(workspaceId);
    lines?.delete(line);
    if (lines?.size !== 0) return;
    this.workspaces.delete(workspaceId);
    this.order = this.order?.filter((each) => each !== workspaceId);
  }

  /** The line with the first entry of the workspace whose turn it is. */
  next(): T | undefined {
    const workspaceId = this.whoseTurn();
    if (workspaceId === undefined) return undefined;
    const [first, ...others] = this.workspaces.get(workspaceId) ?? [];
    return others.reduce((best, each) => (isBefore(each.peek(), best?.peek()) ? each : best), first);
  }

  serve(workspaceId: string): Turn {
    const served = this.turn?.workspaceId === workspaceId ? this.turn.served + 1 : 1;
    this.turn = { workspaceId, served };
    return this.turn;
  }

  /** The workspace that was served last until its burst is over, then the one that follows it by name. */
  private whoseTurn(): string | undefined {
    this.order ??= [...this.workspaces.keys()].sort();
    const { turn, order } = this;
    if (!turn) return order[0];
    if (turn.served < this.burst && this.workspaces.has(turn.workspaceId)) return turn.workspaceId;
    const following = order.find((each) => each > turn.workspaceId) ?? order[0];
    // Nobody else waits: its burst begins anew.
    if (following === turn.workspaceId) this.turn = { ...turn, served: 0 };
    return following;
  }
}

/** The stable order of the queue: by when an entry was enqueued, then by its id. */
const isBefore = (a: Candidate | undefined, b: Candidate | undefined): boolean =>
  a !== undefined && (b === undefined || a.enqueuedAt < b.enqueuedAt || (a.enqueuedAt === b.enqueuedAt && a.id < b.id));
