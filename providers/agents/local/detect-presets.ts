import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { AnnouncedPresets, PresetId } from '../../../contracts/settings/agent-preset';
import { agentPresets } from '../../../domain/agents/presets';
import { findCommand } from '../../../platform/processes/find-command';
import { agentEnvironment, type AgentHost } from './agent-environment';

/** Files below the home directory that a login leaves. */
const loginFiles: Partial<Record<PresetId, string[]>> = {
  gemini: ['.gemini/oauth_creds.json', '.gemini/gemini-credentials.json'],
  // On macOS it is in the keychain.
  claude: process.platform === 'darwin' ? [] : ['.claude/.credentials.json'],
  codex: ['.codex/auth.json'],
  opencode: ['.local/share/opencode/auth.json'],
  goose: ['.config/goose/config.yaml'],
};

/** What a host has for each preset: looked up in its files and the worker's variables, without starting a program. */
export function detectPresets(host: AgentHost, now: Date): AnnouncedPresets {
  const { PATH = '', HOME } = agentEnvironment(host, []).variables;
  const pathOf = (command: string): string | null => {
    const found = findCommand(command, PATH);
    return 'path' in found ? found.path : null;
  };
  return {
    node: Number.parseInt(process.versions.node, 10),
    npx: pathOf('npx') !== null,
    checkedAt: now.toISOString(),
    presets: agentPresets.map(({ id, command, authentication }) => {
      const keys = [...new Set(authentication.flatMap(({ environmentKeys }) => environmentKeys))];
      return {
        id,
        path: command === null ? null : pathOf(command),
        environmentKeys: keys.filter((key) => (host.environment[key] ?? '') !== ''),
        login: HOME === undefined ? null : hasLogin(HOME, loginFiles[id] ?? []),
      };
    }),
  };
}

/** How long a detection is announced, in milliseconds. */
const detectedForMs = 60_000;

/**
 * Detects at most once a minute, however often it is called: every heartbeat does, and the directories of a PATH may be on a network.
 * What is installed later is announced a minute after the last detection.
 */
export function createPresetDetector(host: AgentHost, now: () => Date): () => AnnouncedPresets {
  let last: AnnouncedPresets | undefined;
  return () => {
    const time = now();
    // A clock that was set back does not keep a detection for longer.
    if (!last || Math.abs(time.getTime() - Date.parse(last.checkedAt)) >= detectedForMs) {
      last = detectPresets(host, time);
    }
    return last;
  };
}

function hasLogin(home: string, files: readonly string[]): boolean | null {
  if (files.length === 0) {
    return null;
  }
  try {
    return files.some((file) => statSync(join(home, file), { throwIfNoEntry: false })?.isFile() === true);
  } catch {
    // Another user's home may be closed to the worker.
    return null;
  }
}
