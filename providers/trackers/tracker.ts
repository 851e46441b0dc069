import type { ForgeComment } from '../../contracts/integrations/forge';
import type { TrackerPayload } from '../../contracts/integrations/trackers/profile';
import type { JiraDeployment, TrackerProvider, TrackerSchema } from '../../contracts/integrations/trackers/tracker';

/** What a tracker reports of one of its projects. */
export type TrackerProjectSchema = Omit<TrackerSchema, 'provider' | 'project' | 'posture' | 'introspectedAt'> & {
  /** Who the credential belongs to. */
  login: string;
};

/** A work item as its tracker reports it. */
export interface TrackerItem {
  /** A number, or the key of a Jira issue. */
  id: string;
  url: string;
  workItemType: string | null;
  title: string;
  body: string;
  state: 'open' | 'closed';
  labels: string[];
  priority: string | null;
}

/** A comment of a work item; with the nonce of one that was sent from here. */
export interface TrackerComment extends ForgeComment {
  nonce: string | undefined;
}

/** Names what a work item is created for; the nonce is a secret until the item exists. */
export interface ItemMarker {
  taskId: string;
  nonce: string;
}

/** A work item that is to be created: valid for the schema, which has the ids and kinds of what the payload names. */
export interface NewTrackerItem {
  payload: TrackerPayload;
  schema: Pick<TrackerSchema, 'workItemTypes' | 'fields' | 'planningPaths'>;
  marker: ItemMarker;
}

/** One project of a tracker. Every function throws `ForgeError`; reads follow all pages, within limits. */
export interface Tracker {
  readonly provider: TrackerProvider;
  /** How long the tracker may take to find what was just created, in milliseconds. */
  readonly searchDelayMs: number;
  introspect(): Promise<TrackerProjectSchema>;
  createItem(item: NewTrackerItem): Promise<TrackerItem>;
  /** The work item that was created with the marker, at or after this moment (ISO 8601). */
  findCreated(marker: ItemMarker, since: string): Promise<TrackerItem | undefined>;
  getItem(id: string): Promise<TrackerItem>;
  commentsOf(id: string): Promise<TrackerComment[]>;
  addComment(id: string, comment: { author: string; text: string; nonce: string }): Promise<TrackerComment>;
}

/** How one project of a tracker is reached. */
export interface TrackerSettings {
  provider: TrackerProvider;
  baseUrl: string;
  project: string;
  token: string;
  /** Of Jira Cloud: whose token it is. */
  account: string;
  /** Of Jira: Cloud when absent. */
  deployment?: JiraDeployment | undefined;
  /** Whether the tracker may have an address of a private network, or of this machine. */
  allowPrivate: boolean;
  timeoutMs?: number;
}

/** The most items of one list that are read from a tracker. */
export const maxListed = 1_000;
