import { z } from 'zod';
import { revision, text, timestamp } from '../../common';
import { serviceUrl } from '../../url';
import { forgeRepository, isGithubApi } from '../forge';

/** The families of external trackers that are spoken to. */
export const trackerProvider = z.enum(['github', 'gitlab', 'jira']).meta({ id: 'TrackerProvider' });
export type TrackerProvider = z.infer<typeof trackerProvider>;

/** Jira as a service of its maker, or on servers of its users. */
export const jiraDeployment = z.enum(['cloud', 'data-center']).meta({ id: 'JiraDeployment' });
export type JiraDeployment = z.infer<typeof jiraDeployment>;

/** A project of a tracker: the key of a Jira project, or a repository of a forge. */
const jiraKey = /^[A-Z][A-Z0-9_]{1,49}$/;
export const trackerProject = text(200, 1);

/** Why a text is no project of a provider; `undefined` when it may be one. */
export function projectProblem(provider: TrackerProvider, project: string): string | undefined {
  if (provider === 'jira') {
    return jiraKey.test(project) ? undefined : 'must be the key of a Jira project, such as SHOP';
  }
  const isRepository = forgeRepository.safeParse(project).success;
  const isNested = project.split('/').length > 2;
  return isRepository && !(provider === 'github' && isNested) ? undefined : 'must be the owner/name of a repository';
}

/** A secret by the name of a variable of the workers' environment; the prefixes keep a caller from naming another secret. */
const trackerSecret = z
  .string()
  .regex(
    /^env:(?:GITHUB|GH|GITLAB|FORGE|JIRA|TRACKER)_[A-Z0-9_]{1,100}$/,
    'must be env: and the name of a variable that begins with GITHUB_, GH_, GITLAB_, FORGE_, JIRA_ or TRACKER_',
  );

/** What a user name of HTTP basic authentication may have: no colon, which ends it. */
const account = z
  .string()
  .max(200)
  .regex(/^[\x21-\x39\x3b-\x7e]+$/, 'must be the e-mail address of the account of the token');

export const trackerConnectionPut = z
  .strictObject({
    provider: trackerProvider,
    /** GitHub's REST API, the address of a GitLab or of a Jira site; those of github.com and gitlab.com when absent. */
    baseUrl: serviceUrl.optional(),
    credential: trackerSecret,
    /** Of Jira Cloud: whose API token the credential is. Data Center has personal access tokens. */
    account: account.optional(),
    /** Of Jira; `cloud` when absent. */
    deployment: jiraDeployment.optional(),
    expectedRevision: revision.optional(),
  })
  .superRefine(({ provider, baseUrl, account: owner, deployment }, context) => {
    const refuse = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (provider === 'jira' && baseUrl === undefined) {
      refuse('baseUrl', 'is required: the address of the Jira site');
    }
    const isCloud = provider === 'jira' && deployment !== 'data-center';
    if (isCloud !== (owner !== undefined)) {
      refuse('account', isCloud ? 'is required: whose API token it is' : 'is for Jira Cloud only');
    }
    if (provider !== 'jira' && deployment !== undefined) {
      refuse('deployment', 'is for Jira only');
    }
    if (provider === 'github' && baseUrl !== undefined && !isGithubApi(baseUrl)) {
      refuse('baseUrl', 'must be the REST API of GitHub: https://api.github.com, or https://<host>/api/v3');
    }
  })
  .meta({ id: 'TrackerConnectionPut' });

/** What is stored of a connection: no secret, but the name of one. */
export type TrackerConnectionFields = Omit<z.infer<typeof trackerConnectionPut>, 'expectedRevision'>;

/** How a tracker is reached. The credential is the name of a variable; its value is only in the workers. */
export const trackerConnection = z
  .object({
    provider: trackerProvider,
    configured: z.boolean(),
    baseUrl: z.string().nullable(),
    credential: z.string().nullable(),
    account: z.string().nullable(),
    deployment: jiraDeployment.nullable(),
    /** 0 while nothing is configured. */
    revision: z.number().int().min(0),
    updatedAt: timestamp.nullable(),
  })
  .meta({ id: 'TrackerConnection' });
export type TrackerConnection = z.infer<typeof trackerConnection>;
export const trackerConnections = z
  .object({ connections: z.array(trackerConnection) })
  .meta({ id: 'TrackerConnections' });

/** A project of a tracker, to be read or written. */
export const trackerIntrospect = z
  .strictObject({ provider: trackerProvider, project: trackerProject })
  .superRefine(({ provider, project }, context) => {
    const message = projectProblem(provider, project);
    if (message !== undefined) {
      context.addIssue({ code: 'custom', path: ['project'], message });
    }
  })
  .meta({ id: 'TrackerIntrospect' });

/** The most of each list of a schema that is stored; `truncated` names the lists that had more. */
export const schemaLimits = {
  workItemTypes: 50,
  fields: 300,
  planningPaths: 500,
  priorities: 50,
  states: 100,
  tags: 500,
  assignees: 500,
} as const;
/** The most allowed values of a field. */
export const maxAllowedValues = 500;
/** The longest id, name or path in a schema; what is longer is not listed. */
export const maxSchemaText = 300;

/** What ids of fields look like at every provider; a field with another one is not listed. */
export const trackerFieldId = /^[A-Za-z][A-Za-z0-9_-]{0,199}$/;

const schemaText = z.string().max(maxSchemaText);

/** `other`: of a kind that no mapping can fill. */
export const trackerFieldKind = z.enum([
  ...(['text', 'long-text', 'number', 'date', 'option', 'options', 'user', 'users', 'other'] as const),
]);
export type TrackerFieldKind = z.infer<typeof trackerFieldKind>;

export const trackerField = z
  .object({
    id: schemaText,
    name: schemaText,
    kind: trackerFieldKind,
    /** The types of work items that have the field, and those that cannot be created without it. */
    workItemTypes: z.array(schemaText),
    requiredBy: z.array(schemaText),
    /** The values that it may have; `null` where any is allowed. A user is its id. */
    allowedValues: z.array(z.object({ id: schemaText, name: schemaText })).nullable(),
  })
  .meta({ id: 'TrackerField' });
export type TrackerField = z.infer<typeof trackerField>;

const named = z.object({ id: schemaText, name: schemaText });

/** What a project of a tracker has, in the same terms for all providers. */
export const trackerSchema = z
  .object({
    provider: trackerProvider,
    project: z.string(),
    workItemTypes: z.array(named),
    fields: z.array(trackerField),
    /** Where work is planned: the project, its areas (components of Jira) and iterations (milestones, versions of Jira). */
    planningPaths: z.array(
      z.object({ kind: z.enum(['project', 'area', 'iteration']), path: schemaText, id: schemaText }),
    ),
    priorities: z.array(schemaText),
    states: z.array(schemaText),
    tags: z.array(schemaText),
    assignees: z.array(named),
    capabilities: z.object({
      create: z.boolean(),
      import: z.boolean(),
      comments: z.boolean(),
      areas: z.boolean(),
      iterations: z.boolean(),
    }),
    /** How it was reached, without secrets. */
    posture: z.object({
      baseUrl: z.string(),
      credential: z.string(),
      account: z.string(),
      privateAllowed: z.boolean(),
    }),
    truncated: z.array(z.string()),
    introspectedAt: timestamp,
  })
  .meta({ id: 'TrackerSchema' });
export type TrackerSchema = z.infer<typeof trackerSchema>;

export const trackerSchemaQuery = z
  .strictObject({ provider: trackerProvider.optional(), project: trackerProject.optional() })
  .meta({ id: 'TrackerSchemaQuery' });
