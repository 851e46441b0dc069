import { z } from 'zod';
import type { TrackerField } from '../../contracts/integrations/trackers/tracker';
import { compact } from '../../platform/json/compact';
import { parsed } from '../forges/forge-fetch';
import { createGitlabClient, everyPage } from '../forges/gitlab/client';
import { createGitlabForge } from '../forges/gitlab/gitlab-forge';
import { gitlabIssue } from '../forges/gitlab/shapes';
import { boundedSchema } from './bounded-schema';
import { forgeItems, itemOfIssue, markedBody, textOf, valuesOf } from './forge-items';
import { iterationOf } from './github-tracker';
import type { Tracker, TrackerSettings } from './tracker';

const account = z.object({ username: z.string() });
const projectInfo = z.object({ issues_access_level: z.string().nullish(), issues_enabled: z.boolean().nullish() });
const label = z.object({ name: z.string() });
const milestone = z.object({ id: z.number(), title: z.string() });
const member = z.object({ id: z.number(), username: z.string() });
const typed = z.object({ issue_type: z.string().nullish() });

/** The types that the REST API of GitLab creates. */
const workItemTypes = ['issue', 'incident', 'test_case', 'task'];

const listOf = <T extends z.ZodType>(shape: T, data: unknown): z.output<T>[] =>
  parsed(z.array(z.unknown()), data).map((one) => parsed(shape, one));

/** The issues of a project at GitLab. Its iterations are milestones. */
export function createGitlabTracker(settings: TrackerSettings): Tracker {
  const { project } = settings;
  const forgeSettings = { ...settings, kind: 'gitlab' as const, repository: project };
  const gitlab = createGitlabClient(forgeSettings);

  return {
    provider: 'gitlab',
    ...forgeItems(createGitlabForge(forgeSettings)),

    async introspect() {
      const { username } = parsed(account, await gitlab.users.showCurrentUser());
      const info = parsed(projectInfo, await gitlab.projects.show(project));
      const [labels, milestones, members] = [
        listOf(label, await gitlab.labels.all(project, everyPage)),
        listOf(milestone, await gitlab.milestones.all(project, { state: 'active', ...everyPage })),
        listOf(member, await gitlab.members.all(project, { includeInherited: true, ...everyPage })),
      ];
      const hasIssues = info.issues_enabled !== false && info.issues_access_level !== 'disabled';
      const assignees = members.map(({ id, username: name }) => ({ id: String(id), name }));
      return boundedSchema({
        login: username,
        workItemTypes: workItemTypes.map((name) => ({ id: name, name })),
        fields: fieldsOf(assignees),
        planningPaths: [
          { kind: 'project', path: project, id: project },
          ...milestones.map(({ id, title }) => ({ kind: 'iteration' as const, path: title, id: String(id) })),
        ],
        priorities: [],
        states: ['opened', 'closed'],
        tags: labels.map(({ name }) => name),
        assignees,
        capabilities: { create: hasIssues, import: hasIssues, comments: hasIssues, areas: false, iterations: true },
      });
    },

    async createItem({ payload, schema, marker }) {
      const { fields, workItemType } = payload;
      const { labels, assignee_ids: assignees, due_date: due, weight } = fields;
      const made = await gitlab.issues.create(project, textOf(fields.title), {
        description: markedBody(textOf(fields.description), marker),
        issueType: workItemType,
        ...compact({
          labels: labels === undefined ? undefined : valuesOf(labels).join(','),
          assigneeIds: assignees === undefined ? undefined : valuesOf(assignees).map(Number),
          dueDate: due === undefined ? undefined : textOf(due),
          weight: weight === undefined ? undefined : Number(weight),
          milestoneId: iterationOf({ payload, schema }),
        }),
      });
      return itemOfIssue(parsed(gitlabIssue, made), parsed(typed, made).issue_type ?? workItemType);
    },
  };
}

function fieldsOf(assignees: { id: string; name: string }[]): TrackerField[] {
  const field = (id: string, name: string, kind: TrackerField['kind']): TrackerField => ({
    id,
    name,
    kind,
    workItemTypes,
    requiredBy: id === 'title' ? workItemTypes : [],
    allowedValues: id === 'assignee_ids' ? assignees : null,
  });
  return [
    field('title', 'Title', 'text'),
    field('description', 'Description', 'long-text'),
    field('labels', 'Labels', 'options'),
    field('assignee_ids', 'Assignees', 'users'),
    field('due_date', 'Due date', 'date'),
    field('weight', 'Weight', 'number'),
  ];
}
