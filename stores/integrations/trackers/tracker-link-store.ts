import type { Filter } from 'mongodb';
import type { TrackerPayload } from '../../../contracts/integrations/trackers/profile';
import type { TrackerProvider } from '../../../contracts/integrations/trackers/tracker';
import type { Refusal } from '../../../contracts/refusal';
import type { Database, Stored } from '../../port/collection';
import { insertOnce } from '../../port/insert';
import type { SyncedComments } from '../issue-mapping-store';

/** What was requested of a link. Texts are here, and in no history of a workflow. */
export interface LinkOperation {
  id: string;
  kind: 'create' | 'import' | 'comments';
  actor: string;
  at: string;
  /** Of a creation: who approved it. */
  approvedBy?: string;
  /** Comments that were brought in and sent until now. */
  imported: number;
  delivered: number;
}

/** How an operation ended, for a request whose response was lost. */
export interface LinkEnd {
  id: string;
  kind: LinkOperation['kind'];
  refused: Refusal | null;
  /** Comments that were brought in and sent. */
  imported: number;
  delivered: number;
  /** Whether a task was created for the work item. */
  created: boolean;
}

/** A work item of a tracker and its task. It is written before either is created. */
export interface TrackerLink extends Stored {
  /** Changes with every write: what was decided on a record is written only to that. */
  revision: number;
  taskId: string;
  profileId: string;
  provider: TrackerProvider;
  project: string;
  scope: string;
  origin: 'created' | 'imported';
  state: 'creating' | 'linked';
  /** `null` while the work item is being created. */
  itemId: string | null;
  url: string | null;
  workItemType: string | null;
  /** Of what is created at the tracker: the secret in its marker. */
  nonce: string;
  /** Whether a creation may have been sent: a later try looks for what it made. */
  sent: boolean;
  /** What is to be created. */
  payload: TrackerPayload | null;
  comments: SyncedComments;
  operation: LinkOperation | null;
  last: LinkEnd | null;
  approvedBy: string | null;
  createdBy: string;
  createdAt: string;
}

type Document = TrackerLink & { itemKey: string };
type Change = Partial<Omit<TrackerLink, '_id' | 'revision' | 'scope' | 'createdAt'>>;

/** Unique, also for the links that have no work item yet. */
const itemKeyOf = ({ _id, scope, itemId }: Pick<TrackerLink, '_id' | 'scope' | 'itemId'>): string =>
  itemId === null ? `${scope} ${_id}` : `${scope}#${itemId}`;

const linkOf = ({ itemKey: _itemKey, ...link }: Document): TrackerLink => link;

/** The work items of trackers that tasks have: each belongs to one task at most. */
export async function createTrackerLinkStore(db: Database) {
  const links = await db.collection<Document>({
    name: 'tracker-links',
    indexes: [{ keys: { itemKey: 1 }, unique: true }],
  });
  const at = ({ _id, revision }: TrackerLink): Filter<Document> => ({ _id, revision });

  return {
    async get(id: string): Promise<TrackerLink | undefined> {
      const link = await links.get(id);
      return link && linkOf(link);
    },

    async ofItem(scope: string, itemId: string): Promise<TrackerLink | undefined> {
      const [link] = await links.find({ itemKey: `${scope}#${itemId}` }, { limit: 1 });
      return link && linkOf(link);
    },

    /** Writes a link; `undefined` when there is one by now, of this id or of this work item. */
    async add(link: Omit<TrackerLink, 'revision'>): Promise<TrackerLink | undefined> {
      const written = { ...link, revision: 1 };
      return (await insertOnce(links, { ...written, itemKey: itemKeyOf(written) })) ? written : undefined;
    },

    /**
     * Changes a link from exactly the revision that was read; `undefined` when it is another by now.
     *
     * @throws DuplicateKeyError when another task has the work item
     */
    async change(read: TrackerLink, fields: Change): Promise<TrackerLink | undefined> {
      const itemKey = itemKeyOf({ ...read, ...fields });
      const set = { ...fields, itemKey, revision: read.revision + 1 };
      const changed = await links.findOneAndUpdate(at(read), { $set: set as never });
      return changed && linkOf(changed);
    },

    /** Removes a link as it was read. */
    remove: async (read: TrackerLink): Promise<boolean> => (await links.deleteMany(at(read))) > 0,
  };
}

export type TrackerLinkStore = Awaited<ReturnType<typeof createTrackerLinkStore>>;
