import type { BreakerSignal, LaunchSource, TreeEdge } from '../../../contracts/runs/admission';
import type { AdmissionRequest } from '../../../domain/admission/request';
import type { Collection, Database } from '../../port/collection';

/** One node as its tree records it. */
export interface TreeNode {
  parent: string | null;
  edge: TreeEdge;
  source: LaunchSource;
  depth: number;
  taskId: string;
  at: string;
}

export interface ControlNote {
  action: 'pause' | 'resume' | 'cancel';
  actor: string;
  reason: string;
  at: string;
  /** SHA-256 of the idempotency key; the key itself is never stored. */
  keyHash: string | null;
}

/** `execution-tree-control/v1` and the nodes of one tree: a root launch and everything that descends from it. */
export interface TreeRecord {
  _id: string;
  schemaVersion: 'execution-tree-control/v1';
  workspaceId: string;
  rootTaskId: string;
  state: 'open' | 'paused' | 'cancelled';
  revision: number;
  /** Nodes besides the root. */
  descendants: number;
  nodes: Record<string, TreeNode>;
  signals: BreakerSignal[];
  control?: ControlNote;
  /** The action of each idempotency key, by its hash. */
  // eslint-disable-next-line id-denylist -- a field of stored trees
  said: Record<string, { action: ControlNote['action']; at: string }>;
  /** Set once every node of a cancelled tree has ended. */
  drained?: { at: string; queued: number; interrupted: number };
  createdAt: string;
}

/** How often watchers have continued runs of a tree, besides one launch that is being decided. */
export const continuationsIn = (tree: Pick<TreeRecord, 'nodes'> | undefined, besides?: string): number =>
  Object.entries(tree?.nodes ?? {}).filter(([id, { source }]) => source === 'watcher' && id !== besides).length;

const nodeOf = (request: AdmissionRequest): TreeNode => ({
  parent: request.parentNodeId,
  edge: request.edge,
  source: request.source,
  depth: request.depth,
  taskId: request.taskId,
  at: request.requestedAt,
});

/**
 * The control of execution trees: one document each, changed by compare-and-set.
 *
 * @param onControl receives each pause, resume and cancel once it is stored
 */
export async function createTreeStore(
  db: Database,
  onControl: (tree: TreeRecord, note: ControlNote) => Promise<unknown> = async () => undefined,
) {
  const trees: Collection<TreeRecord> = await db.collection({
    name: 'execution-trees',
    indexes: [{ keys: { state: 1, createdAt: 1 } }],
  });
  async function change(
    id: string,
    { states, note, fields }: { states: TreeRecord['state'][]; note: ControlNote; fields: Partial<TreeRecord> },
  ): Promise<TreeRecord | undefined> {
    const changed = await trees.findOneAndUpdate(
      { _id: id, state: { $in: states } },
      {
        $set: {
          ...fields,
          control: note,
          ...(note.keyHash === null ? {} : { [`said.${note.keyHash}`]: { action: note.action, at: note.at } }),
        },
        $inc: { revision: 1 },
      },
    );
    if (changed) {
      await onControl(changed, note);
    }
    return changed;
  }

  return {
    get: (id: string) => trees.get(id),

    /** Opens the tree of a root launch; an open tree does not change. */
    async open(request: AdmissionRequest): Promise<TreeRecord> {
      const made = await trees.findOneAndUpdate(
        { _id: request.rootObjectiveId },
        {
          $setOnInsert: {
            schemaVersion: 'execution-tree-control/v1',
            workspaceId: request.workspaceId,
            rootTaskId: request.rootTaskId,
            state: 'open',
            revision: 1,
            descendants: 0,
            nodes: { [request.nodeId]: nodeOf(request) },
            signals: [],
            // eslint-disable-next-line id-denylist -- a field of stored trees
            said: {},
            createdAt: request.requestedAt,
          },
        },
        { upsert: true },
      );
      if (!made) {
        throw new Error(`The tree ${request.rootObjectiveId} could not be opened.`);
      }
      return made;
    },

    /**
     * Adds a node to an open tree with fewer than `maxDescendants`; `undefined` when it is not open, or full. Added
     * already, it is not counted twice.
     */
    async register(request: AdmissionRequest, maxDescendants: number): Promise<TreeRecord | undefined> {
      const node = `nodes.${request.nodeId}`;
      const added = await trees.findOneAndUpdate(
        {
          _id: request.rootObjectiveId,
          state: 'open',
          descendants: { $lt: maxDescendants },
          [node]: { $exists: false },
        },
        { $inc: { descendants: 1 }, $set: { [node]: nodeOf(request) } },
      );
      if (added) {
        return added;
      }
      const tree = await trees.get(request.rootObjectiveId);
      return tree?.state === 'open' && tree.nodes[request.nodeId] ? tree : undefined;
    },

    /** Takes back a node whose launch was refused. */
    unregister: (id: string, nodeId: string) =>
      trees.findOneAndUpdate(
        { _id: id, [`nodes.${nodeId}`]: { $exists: true }, descendants: { $gt: 0 } },
        { $inc: { descendants: -1 }, $unset: { [`nodes.${nodeId}`]: '' } },
      ),

    /** Stops the growth of an open tree; `undefined` when it is not open. */
    pause: (id: string, signals: BreakerSignal[], note: ControlNote) =>
      change(id, { states: ['open'], note, fields: { state: 'paused', signals } }),
    resume: (id: string, note: ControlNote) =>
      change(id, { states: ['paused'], note, fields: { state: 'open', signals: [] } }),
    /** For good: nothing opens a cancelled tree again. */
    cancel: (id: string, note: ControlNote) =>
      change(id, { states: ['open', 'paused'], note, fields: { state: 'cancelled' } }),

    drained: (id: string, drained: NonNullable<TreeRecord['drained']>) =>
      trees.findOneAndUpdate(
        { _id: id, state: 'cancelled', drained: { $exists: false } },
        { $set: { drained }, $inc: { revision: 1 } },
      ),

    /** Which of these trees are not open. */
    async closed(ids: string[]): Promise<Set<string>> {
      const records = await trees.find({ _id: { $in: ids } });
      return new Set(records.flatMap(({ _id, state }) => (state === 'open' ? [] : [_id])));
    },

    /** How many trees may not grow until they are resumed. */
    countPaused: () => trees.count({ state: 'paused' }),

    /** Cancelled trees some of whose nodes may still run. */
    undrained: (limit: number) =>
      trees.find({ state: 'cancelled', drained: { $exists: false } }, { sort: { createdAt: 1 }, limit }),
  };
}

export type TreeStore = Awaited<ReturnType<typeof createTreeStore>>;
