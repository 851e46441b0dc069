import {
  agentStatus as agentStatusAnswer,
  type AgentStatusReport,
  agentStatusReport,
  delegationViolation,
  delegationViolationRecorded,
} from '../../../contracts/chat/agent-status';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { withoutTags } from '../../../platform/text/without-tags';
import type { ApiContext } from '../../context';
import { plainField } from '../../tasks/tasks/plain-text';
import { currentAgentStatus } from './current';

const tag = 'agent status';
const write = { tag, method: 'post' as const, permission: 'telemetry:write' };

/** The report with the tags removed from its displayed texts. */
const plainReport = ({ activeTask, activeAgents, errorMessage, ...report }: AgentStatusReport): AgentStatusReport =>
  compact({
    ...report,
    activeTask: activeTask && compact({ ...activeTask, title: activeTask.title && withoutTags(activeTask.title) }),
    errorMessage: errorMessage && withoutTags(errorMessage),
    activeAgents: activeAgents.map((one, index) =>
      compact({
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
      summary: 'Read agent status: the last report and current runs',
      tag,
      permission: 'agent:read',
      response: agentStatusAnswer,
    },
    () => currentAgentStatus({ agentStatus, attempts }),
  );

  routes.add(
    {
      ...write,
      path: '/agent/status',
      operationId: 'reportAgentStatus',
      summary: 'Replace the agent status report and notify watchers',
      body: agentStatusReport,
      response: agentStatusAnswer,
      errors: [409],
    },
    async ({ body }) => {
      await agentStatus.report(plainReport(body));
      await feed.append({ type: 'agent.status' });
      return currentAgentStatus({ agentStatus, attempts });
    },
  );

  routes.add(
    {
      ...write,
      path: '/agent/status/delegation-violation',
      operationId: 'reportDelegationViolation',
      summary: 'Report a delegation violation to the audit log',
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
