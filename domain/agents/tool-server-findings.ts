import type { LaunchFinding } from '../../contracts/runs/launch/manifest';

/** The code, before the name of the server, of a required tool server without its program. */
export const toolServerMissing = 'tool-server-program-missing';

/** Whether a finding is of a required tool server, without which no run of its agent begins. */
export const isToolServerMissing = ({ code }: LaunchFinding): boolean => code.startsWith(`${toolServerMissing}:`);
