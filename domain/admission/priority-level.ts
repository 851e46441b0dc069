import type { Candidate, WorkspaceTurn } from './schedule';

/** A lane, from the position of the choice on. */
interface Waiting {
  peek(): Candidate | undefined;
}

/** The entries of one effective priority: a set of lanes for each workspace, which are served in turns of `burst`. */
export class PriorityLevel<T extends Waiting> {
  private readonly workspaces = new Map<string, Set<T>>();
  /** By name, so that the order of turns does not depend on who waits; sorted when the first is read. */
  private order: string[] | undefined;

  constructor(
    private turn: WorkspaceTurn | undefined,
    private readonly burst: number,
  ) {}

  add(workspaceId: string, lane: T): void {
    const lanes = this.workspaces.get(workspaceId);
    if (lanes) {
      lanes.add(lane);
    } else {
      this.workspaces.set(workspaceId, new Set([lane]));
    }
  }

  /** Removes a lane that has no more entries of this level. */
  remove(workspaceId: string, lane: T): void {
    const lanes = this.workspaces.get(workspaceId);
    lanes?.delete(lane);
    if (lanes?.size !== 0) {
      return;
    }
    this.workspaces.delete(workspaceId);
    this.order = this.order?.filter((each) => each !== workspaceId);
  }

  /** The lane with the first entry of the workspace whose turn it is. */
  next(): T | undefined {
    const workspaceId = this.nextWorkspace();
    if (workspaceId === undefined) {
      return undefined;
    }
    const [first, ...others] = this.workspaces.get(workspaceId) ?? [];
    return others.reduce((best, each) => (isBefore(each.peek(), best?.peek()) ? each : best), first);
  }

  serve(workspaceId: string): WorkspaceTurn {
    const served = this.turn?.workspaceId === workspaceId ? this.turn.served + 1 : 1;
    this.turn = { workspaceId, served };
    return this.turn;
  }

  /** The workspace that was served last until its burst is over, then the one that follows it by name. */
  private nextWorkspace(): string | undefined {
    this.order ??= [...this.workspaces.keys()].sort();
    const { turn, order } = this;
    if (!turn) {
      return order[0];
    }
    if (turn.served < this.burst && this.workspaces.has(turn.workspaceId)) {
      return turn.workspaceId;
    }
    const following = order.find((each) => each > turn.workspaceId) ?? order[0];
    // No other workspace waits: its burst begins again.
    if (following === turn.workspaceId) {
      this.turn = { ...turn, served: 0 };
    }
    return following;
  }
}

/** The stable order of the queue: by when an entry was enqueued, then by its id. */
const isBefore = (a: Candidate | undefined, b: Candidate | undefined): boolean =>
  a !== undefined && (b === undefined || a.enqueuedAt < b.enqueuedAt || (a.enqueuedAt === b.enqueuedAt && a.id < b.id));
