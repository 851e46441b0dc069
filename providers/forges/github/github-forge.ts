import { z } from 'zod';
import { compact } from '../../../platform/json/compact';
import type { Forge, ForgeSettings, PullRequestChange } from '../forge';
import { ForgeError } from '../forge-error';
import { parsed } from '../forge-fetch';
import { createGithubClient, type GithubClient } from './client';
import {
  githubCheckRun,
  githubComment,
  githubIssue,
  githubPull,
  githubReview,
  githubReviewComment,
  githubStatus,
} from './shapes';

const repository = '/repos/{owner}/{repo}';
const account = z.object({ login: z.string() });
const permissions = z.object({ permissions: z.object({ push: z.boolean() }).optional() });

const readyForReview =
  'mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { clientMutationId } }';
const toDraft = 'mutation ($id: ID!) { convertPullRequestToDraft(input: { pullRequestId: $id }) { clientMutationId } }';

/** GitHub and GitHub Enterprise, through their official client. */
export function createGithubForge(settings: ForgeSettings): Forge {
  const github = createGithubClient(settings);
  const [owner = ''] = settings.repository.split('/');
  const pullOf = (data: unknown) => parsed(githubPull, data);
  const readPull = async (number: number) => pullOf(await github.call(`GET ${repository}/pulls/{number}`, { number }));

  return {
    kind: 'github',
    ...issuesOf(github),

    async check() {
      const { login } = parsed(account, await github.call('GET /user'));
      const { permissions: granted } = parsed(permissions, await github.call(`GET ${repository}`));
      return { login, mayPush: granted?.push ?? null };
    },

    async findPullRequest({ headBranch, baseBranch }) {
      const head = `${owner}:${headBranch}`;
      const list = await github.all(`GET ${repository}/pulls`, { state: 'open', head, base: baseBranch });
      // A forge that ignores the filter must not have us adopt another branch's.
      return list.map((one) => pullOf(one).pull).find((pull) => pull.headBranch === headBranch);
    },

    getPullRequest: async (number) => (await readPull(number)).pull,

    async createPullRequest({ title, body, headBranch: head, baseBranch: base, draft }) {
      return pullOf(await github.call(`POST ${repository}/pulls`, { title, body, head, base, draft })).pull;
    },

    async updatePullRequest(number, { draft, ...change }: PullRequestChange) {
      const { title, body, state, baseBranch: base } = change;
      const sent = compact({ title, body, state, base });
      let current =
        Object.keys(sent).length > 0
          ? pullOf(await github.call(`PATCH ${repository}/pulls/{number}`, { number, ...sent }))
          : await readPull(number);
      // Whether it is a draft is not among what REST changes.
      if (draft !== undefined && current.pull.draft !== draft) {
        await github.graphql(draft ? toDraft : readyForReview, { id: current.nodeId });
        current = await readPull(number);
      }
      return current.pull;
    },

    async checksOf(commit) {
      const [runs, statuses] = await Promise.all([
        github.all(`GET ${repository}/commits/{ref}/check-runs`, { ref: commit }),
        github.all(`GET ${repository}/commits/{ref}/statuses`, { ref: commit }),
      ]);
      // Of a context the newest comes first, and counts.
      const latest = new Map<string, ReturnType<typeof parsed<typeof githubStatus>>>();
      for (const sent of statuses) {
        const status = parsed(githubStatus, sent);
        latest.set(status.name, latest.get(status.name) ?? status);
      }
      return [...runs.map((sent) => parsed(githubCheckRun, sent)), ...latest.values()];
    },

    async reviewsOf(number) {
      const reviews = await github.all(`GET ${repository}/pulls/{number}/reviews`, { number });
      return reviews.map((sent) => parsed(githubReview, sent));
    },

    async reviewCommentsOf(number) {
      const comments = await github.all(`GET ${repository}/pulls/{number}/comments`, { number });
      return comments.map((sent) => parsed(githubReviewComment, sent));
    },
  };
}

function issuesOf(
  github: GithubClient,
): Pick<Forge, 'issues' | 'getIssue' | 'createIssue' | 'updateIssue' | 'commentsOf' | 'addComment'> {
  const issueOf = (data: unknown) => parsed(githubIssue, data).issue;
  /** One that is not there any more is removed. */
  const removeLabel = (number: number, name: string) =>
    github.call(`DELETE ${repository}/issues/{number}/labels/{name}`, { number, name }).catch((error: unknown) => {
      if (!(error instanceof ForgeError && error.code === 'not-found')) {
        throw error;
      }
    });
  return {
    async *issues({ labels, since }) {
      const order = { state: 'all', sort: 'updated', direction: 'asc' };
      const filter = { ...order, labels: labels.length > 0 ? labels.join(',') : undefined, since };
      for await (const page of github.pages(`GET ${repository}/issues`, filter)) {
        const known = page.map((sent) => parsed(githubIssue, sent));
        yield known.filter(({ isPull }) => !isPull).map(({ issue }) => issue);
      }
    },

    getIssue: async (number) => issueOf(await github.call(`GET ${repository}/issues/{number}`, { number })),

    async createIssue({ title, body, labels }) {
      return issueOf(await github.call(`POST ${repository}/issues`, { title, body, labels }));
    },

    async updateIssue(number, { addLabels = [], removeLabels = [], ...fields }) {
      const change = compact({ ...fields });
      if (Object.keys(change).length > 0) {
        const changed = issueOf(await github.call(`PATCH ${repository}/issues/{number}`, { number, ...change }));
        if (addLabels.length + removeLabels.length === 0) {
          return changed;
        }
      }
      // Removed first: with both labels of a field the one that is to go would be read as its value.
      for (const name of removeLabels) {
        await removeLabel(number, name);
      }
      if (addLabels.length > 0) {
        await github.call(`POST ${repository}/issues/{number}/labels`, { number, labels: addLabels });
      }
      return issueOf(await github.call(`GET ${repository}/issues/{number}`, { number }));
    },

    async commentsOf(number, since) {
      const comments = await github.all(`GET ${repository}/issues/{number}/comments`, { number, since });
      return comments.map((sent) => parsed(githubComment, sent));
    },

    async addComment(number, body) {
      return parsed(githubComment, await github.call(`POST ${repository}/issues/{number}/comments`, { number, body }));
    },
  };
}
