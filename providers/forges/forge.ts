import type {
  ForgeCheck,
  ForgeComment,
  ForgeIssue,
  ForgeKind,
  ForgePullRequest,
  ForgeReview,
  ForgeReviewComment,
} from '../../contracts/integrations/forge';

export interface NewPullRequest {
  title: string;
  body: string;
  headBranch: string;
  baseBranch: string;
  draft: boolean;
}

/** Fields that are absent stay as they are. */
export interface PullRequestChange {
  title?: string;
  body?: string;
  baseBranch?: string;
  state?: 'open' | 'closed';
  draft?: boolean;
}

export interface IssueChange {
  title?: string;
  body?: string;
  state?: 'open' | 'closed';
  /** Labels that are added, and those that are removed; the others stay, also one that is added meanwhile. */
  addLabels?: readonly string[];
  removeLabels?: readonly string[];
}

export interface IssueFilter {
  /** Every label that an issue must have. */
  labels: readonly string[];
  /** Only what was updated at or after this moment (ISO 8601). */
  since?: string | undefined;
}

/** One repository of a forge. Every function throws `ForgeError`; reads follow all pages, within `maxItems`. */
export interface Forge {
  readonly kind: ForgeKind;
  /** Who the token belongs to, and whether it may push. */
  check(): Promise<{ login: string; mayPush: boolean | null }>;
  /** The open pull request of a branch, of which a forge has one at most. */
  findPullRequest(branches: { headBranch: string; baseBranch?: string }): Promise<ForgePullRequest | undefined>;
  getPullRequest(number: number): Promise<ForgePullRequest>;
  createPullRequest(request: NewPullRequest): Promise<ForgePullRequest>;
  updatePullRequest(number: number, change: PullRequestChange): Promise<ForgePullRequest>;
  checksOf(commit: string): Promise<ForgeCheck[]>;
  reviewsOf(number: number): Promise<ForgeReview[]>;
  reviewCommentsOf(number: number): Promise<ForgeReviewComment[]>;
  /** Issues and no pull requests, those updated first come first, a page at a time. */
  issues(filter: IssueFilter): AsyncIterable<ForgeIssue[]>;
  getIssue(number: number): Promise<ForgeIssue>;
  createIssue(issue: { title: string; body: string; labels: readonly string[] }): Promise<ForgeIssue>;
  updateIssue(number: number, change: IssueChange): Promise<ForgeIssue>;
  commentsOf(issue: number, since?: string): Promise<ForgeComment[]>;
  addComment(issue: number, body: string): Promise<ForgeComment>;
}

/** How one repository of a forge is reached. */
export interface ForgeSettings {
  kind: ForgeKind;
  /** The API of GitHub (`https://api.github.com`, `https://host/api/v3`), or the address of GitLab (`https://gitlab.com`). */
  baseUrl: string;
  repository: string;
  token: string;
  /** Whether the forge may have an address of a private network, or of this machine. */
  allowPrivate: boolean;
  timeoutMs?: number;
}

/** The most items of one kind that are read of a pull request. */
export const maxItems = 1_000;

/** Items of one page, the most that both families give. */
export const pageSize = 100;
