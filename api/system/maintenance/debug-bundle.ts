import type { DebugBundle } from '../../../contracts/system/maintenance';
import { type ApiEnvironment, partSettings } from '../../../platform/config/part-settings';
import { recentLines } from '../../../platform/log/recent-lines';
import type { Redactor } from '../../../platform/log/redact';
import { redactJson } from '../../../platform/log/redact-json';
import type { ApiContext } from '../../context';
import { readEntries } from './log-entries';

/** The newest lines of the log that are in a bundle. */
const maxLogLines = 500;
const maxHosts = 100;
const featureBounds = { bytes: 65_536, depth: 8, items: 200 };

/** Of a setting that is a text nothing but whether it is set: texts are addresses, names and secrets. */
function configurationOf(env: ApiEnvironment): DebugBundle['configuration'] {
  return Object.fromEntries(
    partSettings.api.map((name): [string, number | boolean | 'set' | 'not set'] => {
      const value: unknown = env[name];
      if (typeof value === 'number' || typeof value === 'boolean') {
        return [name, value];
      }
      const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
      return [name, isSet ? 'set' : 'not set'];
    }),
  );
}

type BundleContext = Pick<ApiContext, 'env' | 'settings' | 'agents' | 'hosts' | 'startedAt'>;

/** What is collected is chosen field by field, and cleaned as a whole: nothing is in it because it happens to be stored. */
export async function collectBundle(
  { env, settings, agents, hosts, startedAt }: BundleContext,
  summary: DebugBundle['summary'],
  clean: Redactor,
): Promise<DebugBundle> {
  const [configured, live] = [await agents.read(), await hosts.everyLive()];
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  return {
    schemaVersion: 'debug-bundle/v1',
    summary,
    process: {
      ...{ node: process.version, platform: process.platform, arch: process.arch },
      startedAt: startedAt.toISOString(),
      memory: { rss, heapTotal, heapUsed, external },
    },
    configuration: configurationOf(env),
    features: redactJson({ ...(await settings.current()) }, clean, featureBounds).value,
    agents: configured.agents.map(({ type, provider, enabled }) => ({ type: clean(type), provider, enabled })),
    hosts: live.slice(0, maxHosts).map(({ _id, seenAt }) => ({ id: clean(_id), seenAt })),
    logs: await readEntries(recentLines().slice(-maxLogLines), { clean, limit: maxLogLines }),
  };
}
