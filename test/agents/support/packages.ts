import { join } from 'node:path';

/** Where `npm run test:agents` has installed the packages of the agents. */
function installed(): string {
  const directory = process.env.TEST_AGENT_PACKAGES;
  if (!directory) {
    throw new Error('TEST_AGENT_PACKAGES is not set: run these tests with `npm run test:agents`.');
  }
  return directory;
}

/** Directories with the programs of the agents, as a host has them on its `PATH`. */
export const directories = [
  join(installed(), 'node_modules', '.bin'),
  join(installed(), 'node_modules', 'opencode-linux-x64', 'bin'),
];
