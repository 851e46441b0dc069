import type { Client } from '@temporalio/client';
import { eventually } from '../../../platform/testing/eventually';
import type { GitBreakpoints } from '../../support/git/git-breakpoints';
import type { Service } from '../../support/stack/service';

/** What scenarios are played on. */
export interface Stage {
  service: Service;
  temporal: Client;
  /** A directory for whatever a scenario needs. */
  dir: string;
  breakpoints: GitBreakpoints;
}

/** The name of a history, and the workflow it is of. */
export type Recording = readonly [name: string, workflowId: string];

/** The workflow id of the newest execution of a type, once visibility shows it. */
export const latestWorkflow = (temporal: Client, type: string, filter = ''): Promise<string> =>
  eventually(async () => {
    for await (const { workflowId } of temporal.workflow.list({ query: `WorkflowType = "${type}" ${filter}` })) {
      return workflowId;
    }
    throw new Error(`no ${type} yet`);
  });
