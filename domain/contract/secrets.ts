import type { Refusal } from '../../contracts/refusal';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { Profile } from '../../contracts/settings/profile';
import { createRedactor } from '../../platform/log/redact';
import { refusal } from '../refusal';

const redact = createRedactor();

/**
 * The paths of the texts of a document that hold what looks like a credential, such as `agents.0.args.1`, in their order.
 * Arguments are also read as options with their values.
 */
export function credentialFields(document: unknown): string[] {
  const secrets: string[] = [];
  const walk = (value: unknown, path: readonly (string | number)[]): void => {
    if (typeof value === 'string') {
      if (redact(value) !== value) {
        secrets.push(path.join('.'));
      }
    } else if (Array.isArray(value)) {
      const before = secrets.length;
      value.forEach((item, index) => {
        walk(item, [...path, index]);
      });
      if (!isArguments.test(String(path.at(-1)))) {
        return;
      }
      const fields = optionsOf(value.map(String))
        .filter(isCredential)
        .map(({ at }) => [...path, at].join('.'));
      secrets.push(...fields.filter((field) => !secrets.slice(before).includes(field)));
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        walk(item, [...path, name]);
      }
    }
  };
  walk(document, []);
  return secrets;
}

/** Fields that are the arguments of a program: `args`, `versionArgs`. */
const isArguments = /args$/i;

interface Option {
  name: string;
  value: string;
  at: number;
}

/** Options and variables with their values, which are one argument (`--password=hunter22`) or two (`--password`, `hunter22`). */
const optionsOf = (args: readonly string[]): Option[] =>
  args.flatMap((arg, at) => {
    const sign = arg.indexOf('=');
    const own = sign > 0 ? [{ name: arg.slice(0, sign), value: arg.slice(sign + 1), at }] : [];
    const option = args[at - 1];
    return option?.startsWith('-') && !arg.startsWith('-') ? [...own, { name: option, value: arg, at }] : own;
  });

const secretOption = /(?:^|[-_])(?:password|passwd|passphrase|secret|token|api[-_]?key|private[-_]?key)$/i;
/** The path of a file with the credential, a count, or a short value such as `stdin`. */
const harmlessValue = /^(?:[.~]{0,2}\/.*|\d+|.{0,7})$/;

function isCredential({ name, value }: Option): boolean {
  if (secretOption.test(name) && !harmlessValue.test(value)) {
    return true;
  }
  const line = `${name.replace(/^-+/, '')}=${value}`;
  return redact(line) !== line;
}

/**
 * Refuses a launch whose configuration holds what looks like a credential: it would be stored with every attempt and shown to
 * everyone who may read one. Texts of a task are redacted instead (`objectiveOf`), since their authors are many.
 */
export function secretProblem(agent: AgentConfig, profile: Profile | null): Refusal | undefined {
  const { command, args, versionArgs, untrustedArgs, mcpServers } = agent;
  const fields = credentialFields({
    agent: { command, args, versionArgs, untrustedArgs, mcpServers },
    profile: { description: profile?.description, instructions: profile?.instructions },
  });
  if (fields.length === 0) {
    return undefined;
  }
  return refusal(
    'SECRET_IN_LAUNCH',
    `${fields.join(', ')} seem to contain a credential; name a variable in environmentKeys instead.`,
    { fields, agent: agent.type, ...(profile ? { profileId: profile.id } : {}) },
  );
}
