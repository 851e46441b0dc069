import type { z } from 'zod';
import type { InstallDecision } from '../../../contracts/knowledge/skills/skill-scan';
import { installDecision } from '../../../contracts/knowledge/skills/skill-scan';
import type { maintenanceSummary } from '../../../contracts/system/maintenance';
import { compact } from '../../../platform/json/compact';
import { recentLines } from '../../../platform/log/recent-lines';
import type { Redactor } from '../../../platform/log/redact';
import type { ApiContext } from '../../context';
import { presentException } from '../../knowledge/skills/find-skill';
import { judge } from '../../knowledge/skills/inventory';
import { serviceVersion } from '../../version';
import type { HealthReport } from '../health/report';
import { countLines } from './log-entries';

export type SummaryContext = Pick<
  ApiContext,
  'board' | 'queue' | 'hosts' | 'settings' | 'skills' | 'skillExceptions' | 'startedAt' | 'now'
>;

type Summary = z.output<typeof maintenanceSummary>;

async function skillCounts({ skills, skillExceptions, now }: SummaryContext): Promise<Summary['skills']> {
  const [library, exceptions] = [await skills.list(), await skillExceptions.list()];
  const byId = new Map(exceptions.map((record) => [record.id, presentException(record)]));
  const at = now();
  const decided = library.skills.map((skill) => judge(skill, byId.get(skill.skillId), at).decision);
  const decisions = Object.fromEntries(
    installDecision.options.map((decision) => [decision, decided.filter((one) => one === decision).length]),
  ) as Record<InstallDecision, number>;
  return { total: decided.length, decisions, truncated: library.truncated };
}

const overall = (parts: Summary['parts']): Summary['status'] => {
  const statuses = Object.values(parts).map(({ status }) => status);
  return statuses.includes('failed') ? 'degraded' : statuses.includes('warning') ? 'warning' : 'ok';
};

/** The state of everything that an operator looks after. */
export async function summarize(
  context: SummaryContext,
  { parts: read, timestamp }: HealthReport,
  clean: Redactor,
): Promise<Summary> {
  const { board, queue, hosts, settings, startedAt } = context;
  const parts = Object.fromEntries(
    Object.entries(read).map(([name, { status, reason }]) => [
      name,
      compact({ status, reason: reason === undefined ? undefined : clean(reason) }),
    ]),
  );
  return {
    generatedAt: timestamp,
    status: overall(parts),
    version: serviceVersion,
    uptimeMs: Date.now() - startedAt.getTime(),
    parts,
    tasks: board.counts(),
    queue: { depth: await queue.depth() },
    hosts: { live: (await hosts.everyLive()).length },
    skills: await skillCounts(context),
    retention: (await settings.current()).retention,
    logs: countLines(recentLines()),
  };
}
