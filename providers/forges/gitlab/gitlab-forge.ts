import { z } from 'zod';
import { compact } from '../../../platform/json/compact';
import { type Forge, type ForgeSettings, maxItems, pageSize, type PullRequestChange } from '../forge';
import { ForgeError } from '../forge-error';
import { parsed } from '../forge-fetch';
import { createGitlabClient, everyPage } from './client';
import {
  gitlabApprovals,
  gitlabDiscussion,
  gitlabIssue,
  gitlabMergeRequest,
  gitlabNote,
  gitlabStatus,
  withoutDraftMark,
} from './shapes';

type GitlabClient = ReturnType<typeof createGitlabClient>;

const account = z.object({ username: z.string() });
const access = z.object({ access_level: z.number() }).nullish();
const grants = z.object({
  permissions: z.object({ project_access: access, group_access: access }).optional(),
});
/** The level of a developer, who may push. */
const developer = 30;
const stateEvents = { open: 'reopen', closed: 'close' } as const;

const markedTitle = (title: string, draft: boolean): string =>
  draft ? `Draft: ${withoutDraftMark(title)}` : withoutDraftMark(title);

const list = (data: unknown): unknown[] => parsed(z.array(z.unknown()), data).slice(0, maxItems);

/** GitLab, through the client that is best kept for it. A merge request is a pull request here. */
export function createGitlabForge(settings: ForgeSettings): Forge {
  const gitlab = createGitlabClient(settings);
  const project = settings.repository;
  const read = async (number: number) => parsed(gitlabMergeRequest, await gitlab.mergeRequests.show(project, number));

  return {
    kind: 'gitlab',
    ...issuesOf(gitlab, project),

    async check() {
      const { username } = parsed(account, await gitlab.users.showCurrentUser());
      const { permissions } = parsed(grants, await gitlab.projects.show(project));
      const levels = [permissions?.project_access, permissions?.group_access].map((one) => one?.access_level ?? 0);
      return { login: username, mayPush: permissions === undefined ? null : Math.max(...levels) >= developer };
    },

    async findPullRequest({ headBranch, baseBranch }) {
      const found = await gitlab.mergeRequests.all({
        projectId: project,
        state: 'opened',
        sourceBranch: headBranch,
        ...compact({ targetBranch: baseBranch }),
        ...everyPage,
      });
      return list(found)
        .map((one) => parsed(gitlabMergeRequest, one))
        .find((pull) => pull.headBranch === headBranch);
    },

    getPullRequest: read,

    async createPullRequest({ title, body, headBranch, baseBranch, draft }) {
      const marked = markedTitle(title, draft);
      return parsed(
        gitlabMergeRequest,
        await gitlab.mergeRequests.create(project, headBranch, baseBranch, marked, { description: body }),
      );
    },

    async updatePullRequest(number, { title, body, baseBranch, state, draft }: PullRequestChange) {
      const current = await read(number);
      const isRenamed = title !== undefined || (draft !== undefined && draft !== current.draft);
      const change = compact({
        title: isRenamed ? markedTitle(title ?? current.title, draft ?? current.draft) : undefined,
        description: body,
        targetBranch: baseBranch,
        // GitLab refuses to close what is closed.
        stateEvent: state === undefined || state === current.state ? undefined : stateEvents[state],
      });
      if (Object.keys(change).length === 0) {
        return current;
      }
      return parsed(gitlabMergeRequest, await gitlab.mergeRequests.edit(project, number, change));
    },

    async checksOf(commit) {
      return list(await gitlab.commits.allStatuses(project, commit)).map((one) => parsed(gitlabStatus, one));
    },

    async reviewsOf(number) {
      const found = await gitlab.approvals.showConfiguration(project, { mergerequestIId: number });
      return parsed(gitlabApprovals, found).approved_by.map(({ user }) => ({
        author: user,
        state: 'approved' as const,
        body: '',
        submittedAt: null,
      }));
    },

    async reviewCommentsOf(number) {
      const found = list(await gitlab.discussions.all(project, number, everyPage));
      return found.flatMap((one) => parsed(gitlabDiscussion, one)).slice(0, maxItems);
    },
  };
}

function issuesOf(
  { issues, issueNotes }: GitlabClient,
  project: string,
): Pick<Forge, 'issues' | 'getIssue' | 'createIssue' | 'updateIssue' | 'commentsOf' | 'addComment'> {
  const read = async (number: number) => {
    const [issue] = list(await issues.all({ projectId: project, iids: [number], perPage: 1, maxPages: 1 }));
    if (issue === undefined) {
      throw new ForgeError('not-found', `There is no issue ${number}.`);
    }
    return parsed(gitlabIssue, issue);
  };
  return {
    async *issues({ labels, since }) {
      for (let page = 1; ; page += 1) {
        const found = list(
          await issues.all({
            projectId: project,
            scope: 'all',
            orderBy: 'updated_at',
            sort: 'asc',
            ...compact({ labels: labels.length > 0 ? labels.join(',') : undefined, updatedAfter: since }),
            perPage: pageSize,
            page,
            maxPages: 1,
          }),
        );
        yield found.map((one) => parsed(gitlabIssue, one));
        if (found.length < pageSize) {
          return;
        }
      }
    },

    getIssue: read,

    async createIssue({ title, body, labels }) {
      const made = await issues.create(project, title, {
        description: body,
        ...compact({ labels: labels.length > 0 ? labels.join(',') : undefined }),
      });
      return parsed(gitlabIssue, made);
    },

    async updateIssue(number, { title, body, state, addLabels = [], removeLabels = [] }) {
      const stateEvent = state === undefined ? undefined : stateEvents[state];
      const labels = {
        addLabels: addLabels.length > 0 ? addLabels.join(',') : undefined,
        removeLabels: removeLabels.length > 0 ? removeLabels.join(',') : undefined,
      };
      const changed = await issues.edit(project, number, compact({ title, description: body, stateEvent, ...labels }));
      return parsed(gitlabIssue, changed);
    },

    async commentsOf(number, since) {
      const found = list(await issueNotes.all(project, number, { sort: 'asc', orderBy: 'created_at', ...everyPage }));
      return found
        .map((one) => parsed(gitlabNote, one))
        .filter((one) => one !== null && (since === undefined || one.updatedAt >= since))
        .filter((one) => one !== null);
    },

    async addComment(number, body) {
      const made = parsed(gitlabNote, await issueNotes.create(project, number, body));
      if (made === null) {
        throw new ForgeError('unavailable', 'The forge has noted the comment as one of its own.');
      }
      return made;
    },
  };
}
