import {
  agentStatus as agentStatusAnswer,
  agentStatusReport,
  delegationViolation,
  delegationViolationRecorded,
  type AgentStatusReport,
} from '../../contracts/agent-status';
import type { Routes } from '../../platform/http/routes';
import { withoutUndefined } from '../../platform/json/without-undefined';
import type { ApiContext } from '../context';
import { plainField, withoutTags } from '../tasks/plain-text';
import { agentStatusNow } from './now';

const tag = 'agent status';
const write = { tag, method: 'post' as const, permission: 'telemetry:write' };

/** The report with the tags taken out of what is shown of it. */
const plainReport = ({ activeTask, activeAgents, errorMessage, ...report }: AgentStatusReport): AgentStatusReport =>
  withoutUndefined({
    ...report,
    activeTask:
      activeTask && withoutUndefined({ ...activeTask, title: activeTask.title && withoutTags(activeTask.title) }),
    errorMessage: errorMessage && withoutTags(errorMessage),
    activeAgents: activeAgents.map((one, index) =>
      withoutUndefined({
        ...one,
        agent: plainField(one.agent, `activeAgents.${index}.agent`),
        taskTitle: one.taskTitle && withoutTags(one.taskTitle),
      }),
    ),
  });

/** Who works now (specification 1, Agent status). */
export function agentStatusRoutes(
  routes: Routes,
  { agentStatus, attempts, feed }: Pick<ApiContext, 'agentStatus' | 'attempts' | 'feed'>,
): void {
  routes.add(
    {
      method: 'get',
      path: '/agent/status',
      operationId: 'getAgentStatus',
      summary: 'Tell who works now: the last report and the runs of the board',
      tag,
      permission: 'agent:read',
      response: agentStatusAnswer,
    },
    () => agentStatusNow({ agentStatus, attempts }),
  );

  routes.add(
    {
      ...write,
      path: '/agent/status',
      operationId: 'reportAgentStatus',
      summary: 'Report who works now, in place of the former report; watchers are told',
      body: agentStatusReport,
      response: agentStatusAnswer,
      errors: [409],
    },
    async ({ body }) => {
      await agentStatus.report(plainReport(body));
      await feed.append({ type: 'agent.status' });
      return agentStatusNow({ agentStatus, attempts });
    },
  );

  routes.add(
    {
      ...write,
      path: '/agent/status/delegation-violation',
      operationId: 'reportDelegationViolation',
      summary: 'Report that an agent broke a rule about delegating work; it is kept in the audit log',
      body: delegationViolation,
      response: delegationViolationRecorded,
      status: 201,
      audit: ({ body }, { agent }) => ({
        action: 'delegation.violation',
        resource: body.taskId,
        details: { ...body, agent },
      }),
    },
    async ({ body, auth }) => ({
      recorded: true as const,
      agent: plainField(body.agent ?? auth.tokenName, 'agent'),
      rule: plainField(body.rule, 'rule'),
    }),
  );
}
