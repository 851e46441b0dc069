import {
  Commits,
  IssueNotes,
  Issues,
  MergeRequestApprovals,
  MergeRequestDiscussions,
  MergeRequests,
  ProjectLabels,
  ProjectMembers,
  ProjectMilestones,
  Projects,
  Users,
} from '@gitbeaker/core';
import { createRequesterFn } from '@gitbeaker/requester-utils';
import type { ForgeSettings } from '../forge';
import { maxItems, pageSize } from '../forge';
import { ForgeError } from '../forge-error';
import { createForgeFetch } from '../forge-fetch';

/** Every page within `maxItems`; the library follows the `Link` headers. */
export const everyPage = { perPage: pageSize, maxPages: Math.ceil(maxItems / pageSize) };

interface Sent {
  prefixUrl?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  searchParams?: string;
}

/** The client of GitLab, with our way to send: its own would repeat what a workflow repeats durably. */
export function createGitlabClient(settings: ForgeSettings) {
  const send = createForgeFetch(settings);
  const requesterFn = createRequesterFn(
    (_service, request) => Promise.resolve(request),
    async (endpoint, options = {}) => {
      const { prefixUrl = '', method, headers, body, searchParams = '' } = options as Sent;
      // The library gives the address of another page as it was linked.
      const url = new URL(endpoint, `${prefixUrl.replace(/\/+$/, '')}/`);
      if (searchParams !== '') {
        url.search = searchParams;
      }
      const response = await send(url, { method, headers: { accept: 'application/json', ...headers }, body });
      return {
        body: (await jsonOf(response)) as Record<string, unknown>,
        headers: Object.fromEntries(response.headers.entries()),
        status: response.status,
      };
    },
  );
  const options = {
    host: settings.baseUrl.replace(/\/+$/, ''),
    token: settings.token,
    requesterFn,
    rateLimits: {},
    // Each request has a deadline of its own.
    queryTimeout: null,
  };
  return {
    commits: new Commits(options),
    issueNotes: new IssueNotes(options),
    issues: new Issues(options),
    approvals: new MergeRequestApprovals(options),
    labels: new ProjectLabels(options),
    members: new ProjectMembers(options),
    milestones: new ProjectMilestones(options),
    discussions: new MergeRequestDiscussions(options),
    mergeRequests: new MergeRequests(options),
    projects: new Projects(options),
    users: new Users(options),
  };
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    throw new ForgeError('unavailable', 'The forge sent what is no JSON.');
  }
}
