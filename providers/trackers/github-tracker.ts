import { z } from 'zod';
import type { TrackerField } from '../../contracts/integrations/trackers/tracker';
import { compact } from '../../platform/json/compact';
import { ForgeError } from '../forges/forge-error';
import { parsed } from '../forges/forge-fetch';
import { createGithubClient, type GithubClient } from '../forges/github/client';
import { createGithubForge } from '../forges/github/github-forge';
import { githubIssue } from '../forges/github/shapes';
import { boundedSchema } from './bounded-schema';
import { forgeItems, itemOfIssue, markedBody, textOf, valuesOf } from './forge-items';
import type { NewTrackerItem, Tracker, TrackerSettings } from './tracker';

const repository = '/repos/{owner}/{repo}';
const account = z.object({ login: z.string() });
const repositoryInfo = z.object({
  has_issues: z.boolean().default(true),
  permissions: z.object({ push: z.boolean() }).optional(),
});
const label = z.object({ name: z.string() });
const milestone = z.object({ number: z.number(), title: z.string() });
const issueType = z.object({ name: z.string(), is_enabled: z.boolean().nullish() });
const typed = z.object({ type: z.object({ name: z.string() }).nullish() });

/** What a new issue is called that has no type. */
const plainType = 'Issue';

/** The issues of a repository at GitHub. Its iterations are milestones, and its types those of the organisation. */
export function createGithubTracker(settings: TrackerSettings): Tracker {
  const forgeSettings = { ...settings, kind: 'github' as const, repository: settings.project };
  const github = createGithubClient(forgeSettings);
  const listOf = async <T extends z.ZodType>(
    shape: T,
    route: string,
    parameters?: Parameters<GithubClient['all']>[1],
  ) => (await github.all(route, parameters)).map((one) => parsed(shape, one));

  /** The types that the organisation has; none of an account of a person, which has no such list. */
  async function issueTypes(): Promise<string[]> {
    const [org = ''] = settings.project.split('/');
    try {
      const types = await listOf(issueType, 'GET /orgs/{org}/issue-types', { org });
      return types.filter(({ is_enabled: enabled }) => enabled !== false).map(({ name }) => name);
    } catch (error) {
      if (error instanceof ForgeError && (error.code === 'not-found' || error.code === 'forbidden')) {
        return [];
      }
      throw error;
    }
  }

  return {
    provider: 'github',
    ...forgeItems(createGithubForge(forgeSettings)),

    async introspect() {
      const { login } = parsed(account, await github.call('GET /user'));
      const info = parsed(repositoryInfo, await github.call(`GET ${repository}`));
      const [types, labels, milestones, people] = [
        await issueTypes(),
        await listOf(label, `GET ${repository}/labels`),
        await listOf(milestone, `GET ${repository}/milestones`, { state: 'open' }),
        await listOf(account, `GET ${repository}/assignees`),
      ];
      const workItemTypes = [plainType, ...types.filter((name) => name !== plainType)];
      // GitHub drops what an account that may not push sends besides the texts.
      const mayPlan = info.permissions?.push !== false;
      const assignees = people.map(({ login: id }) => ({ id, name: id }));
      return boundedSchema({
        login,
        workItemTypes: workItemTypes.map((name) => ({ id: name, name })),
        fields: fieldsOf(workItemTypes, { assignees, mayPlan }),
        planningPaths: [
          { kind: 'project', path: settings.project, id: settings.project },
          ...(mayPlan ? milestones : []).map(({ number, title }) => ({
            kind: 'iteration' as const,
            path: title,
            id: String(number),
          })),
        ],
        priorities: [],
        states: ['open', 'closed'],
        tags: labels.map(({ name }) => name),
        assignees,
        capabilities: {
          create: info.has_issues,
          import: info.has_issues,
          comments: info.has_issues,
          areas: false,
          iterations: mayPlan,
        },
      });
    },

    async createItem({ payload, schema, marker }) {
      const { fields, workItemType } = payload;
      const { assignees, labels } = fields;
      const made = await github.call(
        `POST ${repository}/issues`,
        compact({
          title: textOf(fields.title),
          body: markedBody(textOf(fields.body), marker),
          labels: labels === undefined ? undefined : valuesOf(labels),
          assignees: assignees === undefined ? undefined : valuesOf(assignees),
          milestone: iterationOf({ payload, schema }),
          type: workItemType === plainType ? undefined : workItemType,
        }),
      );
      return itemOfIssue(parsed(githubIssue, made).issue, parsed(typed, made).type?.name ?? plainType);
    },
  };
}

/** The number of the milestone that a payload names. */
export const iterationOf = ({ payload, schema }: Pick<NewTrackerItem, 'payload' | 'schema'>): number | undefined => {
  const planned = schema.planningPaths.find(({ kind, path }) => kind === 'iteration' && path === payload.iterationPath);
  return planned && Number(planned.id);
};

function fieldsOf(
  workItemTypes: string[],
  { assignees, mayPlan }: { assignees: { id: string; name: string }[]; mayPlan: boolean },
): TrackerField[] {
  const field = (id: string, name: string, kind: TrackerField['kind']): TrackerField => ({
    id,
    name,
    kind,
    workItemTypes,
    requiredBy: id === 'title' ? workItemTypes : [],
    allowedValues: id === 'assignees' ? assignees : null,
  });
  const planned = [field('labels', 'Labels', 'options'), field('assignees', 'Assignees', 'users')];
  return [field('title', 'Title', 'text'), field('body', 'Description', 'long-text'), ...(mayPlan ? planned : [])];
}
