import { z } from 'zod';
import { slug } from '../../../contracts/common';
import {
  trackerCommentReport,
  trackerCommentSync,
  trackerCreate,
  trackerCreated,
  trackerImport,
  trackerImported,
} from '../../../contracts/integrations/trackers/profile';
import type { Routes } from '../../../platform/http/routing/routes';
import { type TrackerContext, trackerPath, trackerTag } from './context';
import { createWorkItem, importWorkItem, syncComments } from './work-items';

const path = `${trackerPath}/profiles/:profileId`;
const write = {
  method: 'post' as const,
  tag: trackerTag,
  permission: 'settings:write',
  params: z.strictObject({ profileId: slug }),
  errors: [403, 404, 409, 429, 502, 503],
};

/** The work items of tasks: created at their tracker or brought in from it, with their comments. */
export function workItemRoutes(routes: Routes, context: TrackerContext): void {
  routes.add(
    {
      ...write,
      path: `${path}/create`,
      operationId: 'createTrackerWorkItem',
      summary: 'Create the work item of a task at a tracker, once, and name it on the task',
      body: trackerCreate,
      response: trackerCreated,
      status: 201,
    },
    ({ params, body, auth }) => createWorkItem(context, { ...params, ...body, actor: auth.actor }),
  );

  routes.add(
    {
      ...write,
      path: `${path}/import`,
      operationId: 'importTrackerWorkItem',
      summary: 'Import a work item of a tracker as a task, once, or link it to a task',
      body: trackerImport,
      response: trackerImported,
    },
    ({ params, body, auth }) => importWorkItem(context, { ...params, ...body, actor: auth.actor }),
  );

  routes.add(
    {
      ...write,
      path: `${path}/sync-comments`,
      operationId: 'syncTrackerComments',
      summary: 'Import the comments of a work item and send those of its task, each once',
      body: trackerCommentSync,
      response: trackerCommentReport,
    },
    ({ params, body, auth }) => syncComments(context, { ...params, ...body, actor: auth.actor }),
  );
}
