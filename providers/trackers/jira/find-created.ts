import { z } from 'zod';
import { ForgeError } from '../../forges/forge-error';
import type { ItemMarker, TrackerItem } from '../tracker';
import { type JiraClient, parsedOfJira } from './client';
import { type jiraIssue, marker as markerShape, propertyKey } from './shapes';

export const issueFields = 'summary,description,labels,priority,issuetype,status';
const dayMs = 86_400_000;
const pageSize = 100;
/** Pages of a search that are read; an issue that was created after so many others is not found. */
const maxPages = { cloud: 20, dataCenter: 3 };

interface Searched {
  jira: JiraClient;
  issue: ReturnType<typeof jiraIssue>;
  /** A key, checked where it was configured: it is part of a query. */
  project: string;
}

const createdSince = (since: string): string =>
  `created >= "-${Math.ceil((Date.now() - Date.parse(since)) / dayMs) + 1}d"`;

const page = z.object({ issues: z.array(z.unknown()), nextPageToken: z.string().nullish() });

/** The issue with a marker among those of a project, whose search returns properties and tokens of pages. */
export async function findInCloud(
  { jira, issue, project }: Searched,
  { taskId, nonce }: ItemMarker,
  since: string,
): Promise<TrackerItem | undefined> {
  let token: string | undefined;
  for (let read = 0; read < maxPages.cloud; read += 1) {
    const { issues, nextPageToken } = parsedOfJira(
      page,
      await jira.post('search/jql', {
        jql: `project = "${project}" AND ${createdSince(since)} ORDER BY created DESC`,
        fields: issueFields.split(','),
        properties: [propertyKey],
        maxResults: pageSize,
        ...(token === undefined ? {} : { nextPageToken: token }),
      }),
    );
    const created = issues
      .map((one) => parsedOfJira(issue, one))
      .find(({ marker }) => marker?.taskId === taskId && marker.nonce === nonce);
    if (created) {
      return created.item;
    }
    if (typeof nextPageToken !== 'string') {
      return undefined;
    }
    token = nextPageToken;
  }
  return undefined;
}

const counted = z.object({ issues: z.array(z.unknown()), total: z.number() });
const property = z.object({ value: z.unknown() });

/**
 * The same, where a search returns no properties and is counted from `startAt`: those of the account itself are read one by
 * one, the newest first, since it created the issue that is searched.
 */
export async function findInDataCenter(
  { jira, issue, project }: Searched,
  { taskId, nonce }: ItemMarker,
  since: string,
): Promise<TrackerItem | undefined> {
  const jql = `project = "${project}" AND creator = currentUser() AND ${createdSince(since)} ORDER BY created DESC`;
  for (let startAt = 0; startAt < maxPages.dataCenter * pageSize; startAt += pageSize) {
    const { issues, total } = parsedOfJira(
      counted,
      await jira.post('search', { jql, startAt, maxResults: pageSize, fields: issueFields.split(',') }),
    );
    for (const one of issues) {
      const { item } = parsedOfJira(issue, one);
      const marker = await markerOf(jira, item.id);
      if (marker?.taskId === taskId && marker.nonce === nonce) {
        return item;
      }
    }
    if (issues.length === 0 || startAt + issues.length >= total) {
      return undefined;
    }
  }
  return undefined;
}

async function markerOf(jira: JiraClient, key: string): Promise<ItemMarker | undefined> {
  const sent = await jira.get(`issue/${encodeURIComponent(key)}/properties/${propertyKey}`).catch(noneOf);
  const read = markerShape.safeParse(sent === undefined ? undefined : parsedOfJira(property, sent).value);
  return read.success ? read.data : undefined;
}

/** There is no such property. */
export function noneOf(error: unknown): undefined {
  if (error instanceof ForgeError && error.code === 'not-found') {
    return undefined;
  }
  throw error;
}
