import type { AgentConfig } from '../../contracts/agent-config';
import type { Profile } from '../../contracts/profile';
import type { LaunchRefusal } from '../../contracts/launch';
import { createRedactor } from '../../platform/log/redact';
import { refusal } from '../refusal';

const redact = createRedactor();

/**
 * Refuses a launch whose configuration holds what looks like a credential: it would be stored with every attempt and
 * shown to whoever may read one. Texts of a task are redacted instead (`objectiveOf`), since their authors are many.
 */
export function secretProblem(agent: AgentConfig, profile: Profile | null): LaunchRefusal | undefined {
  const texts: [field: string, text: string][] = [
    ['agent.command', agent.command ?? ''],
    // An option and its value may be two arguments: `--password`, `hunter22`.
    ...agent.args.map((arg, index): [string, string] => [`agent.args.${index}`, arg]),
    ...agent.args.map((arg, index): [string, string] => [
      `agent.args.${index}`,
      `${(agent.args[index - 1] ?? '').replace(/^-+/, '')}=${arg}`,
    ]),
    ['profile.instructions', profile?.instructions ?? ''],
  ];
  const fields = [...new Set(texts.filter(([, text]) => redact(text) !== text).map(([field]) => field))];
  if (fields.length === 0) return undefined;
  return refusal(
    'SECRET_IN_LAUNCH',
    409,
    `What looks like a credential stands in ${fields.join(', ')}; name a variable in environmentKeys instead.`,
    { fields, agent: agent.type, ...(profile ? { profileId: profile.id } : {}) },
  );
}
