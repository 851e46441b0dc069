import { z } from 'zod';
import {
  toolRunId,
  workflowToolCall,
  workflowToolCallRequest,
  workflowToolCatalog,
  workflowToolsRequest,
  workflowToolWithdrawal,
  workflowToolWithdrawn,
} from '../../../contracts/integrations/workflow-tools';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { admitWorkflowCall } from '../../../stores/integrations/workflow-tools/admit-call';
import { callersToolHolder } from '../../../stores/integrations/workflow-tools/holder';
import { makeWorkflowCall, presentWorkflowCall } from '../../../stores/integrations/workflow-tools/make-call';
import { openWorkflowCatalog, presentCatalog } from '../../../stores/integrations/workflow-tools/open-catalog';
import { withdrawApproval } from '../../../stores/integrations/workflow-tools/withdraw-approval';
import type { WorkflowContext } from '../../context';
import { liveHost } from '../../live-host';
import { refusalError } from '../../refusal-error';

const tag = 'tool-servers';
const params = z.strictObject({ runId: toolRunId });
const root = '/tool-servers/workflow-runs/:runId';

/** Tools for the runs of a workflow engine that is a caller of the board: such runs have no attempt. */
export function workflowToolRoutes(routes: Routes, context: WorkflowContext): void {
  routes.add(
    {
      method: 'put',
      path: `${root}/catalog`,
      operationId: 'openWorkflowToolCatalog',
      summary: 'Open the immutable tool catalog of a workflow run of the caller',
      tag,
      permission: 'agent:write',
      localAgent: true,
      params,
      body: workflowToolsRequest,
      response: workflowToolCatalog,
      errors: [409, 503],
      audit: ({ params: { runId }, body }, { digest }) => ({
        action: 'tool-catalog.open',
        resource: runId,
        details: { digest, toolServers: body.toolServers },
      }),
    },
    async ({ params: { runId }, body: { toolServers }, auth }) => {
      const hostId = await liveHost(context.hosts, undefined, 'start the tool servers');
      const opened = await openWorkflowCatalog(
        { ...context, hostId, toolDiscoverer: discoverOn(context, hostId) },
        callersToolHolder(runId, auth.actor),
        { toolServers, signal: new AbortController().signal },
      );
      if ('code' in opened) {
        throw refusalError(opened);
      }
      return presentCatalog(opened);
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${root}/calls`,
      operationId: 'callWorkflowTool',
      summary: 'Call a tool of the catalog of a workflow run of the caller',
      tag,
      permission: 'agent:write',
      localAgent: true,
      idempotency: 'own',
      params,
      body: workflowToolCallRequest,
      response: workflowToolCall,
      errors: [404, 409, 503],
      audit: ({ params: { runId }, body }, { id, state, replayed }) =>
        replayed
          ? undefined
          : {
              action: 'tool.call',
              resource: `${runId}/${body.stageId}`.slice(0, 200),
              details: { callId: id, serverId: body.serverId, tool: body.tool, state },
              once: id,
            },
    },
    async ({ params: { runId }, body: { waitMs: withinMs, ...body }, auth }) => {
      const holder = callersToolHolder(runId, auth.actor);
      const { call, replayed } = await admitWorkflowCall(context, holder, body);
      return presentWorkflowCall(await makeWorkflowCall(context, call, compact({ withinMs })), replayed);
    },
  );

  routes.add(
    {
      method: 'post',
      path: `${root}/withdraw`,
      operationId: 'withdrawWorkflowToolCall',
      summary: 'Cancel the approval that a tool call of a workflow run waits for',
      tag,
      permission: 'agent:write',
      localAgent: true,
      params,
      body: workflowToolWithdrawal,
      response: workflowToolWithdrawn,
      errors: [404],
      audit: ({ body: { approvalId } }, { withdrawn }) =>
        withdrawn ? { action: 'tool.withdraw', resource: approvalId } : undefined,
    },
    async ({ params: { runId }, body: { approvalId }, auth }) => {
      const withdrawn = await withdrawApproval(context, callersToolHolder(runId, auth.actor), approvalId);
      assertFound(withdrawn, 'approval', approvalId);
      return { withdrawn };
    },
  );
}

/** Discovers tools on a host, as its workers do; what it has discovered of the same definition is taken. */
const discoverOn = ({ discoverTools, toolDiscoveries }: WorkflowContext, hostId: string) => ({
  async discover({ id: serverId, digest: definitionDigest }: { id: string; digest: string }) {
    const stored = await toolDiscoveries.find(definitionDigest, hostId);
    if (stored?.state === 'ready') {
      return { ...stored, cached: true };
    }
    const discovered = await discoverTools({ hostId, serverId, definitionDigest });
    if ('status' in discovered) {
      throw refusalError(discovered);
    }
    return discovered;
  },
});
