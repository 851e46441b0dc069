import { z } from 'zod';

const limitMechanism = z.enum(['cgroup', 'rlimit', 'none']);
const limit = z.object({ mechanism: limitMechanism, value: z.number().int().nullable() });

/** What the sandbox of a host does, found out by running one. */
export const hostSandbox = z
  .object({
    mechanism: z.literal('bubblewrap'),
    version: z.string(),
    /** The capabilities of the manifest that it enforces, of runs that have a sandbox preset. */
    capabilities: z.array(z.string()),
    /** What limits the memory and the number of processes of a run: `rlimit` limits each process, or those of one user. */
    memory: limitMechanism,
    processes: limitMechanism,
  })
  .meta({ id: 'HostSandbox' });
export type HostSandbox = z.infer<typeof hostSandbox>;

/** What was enforced of a run by the sandbox of its host. */
export const sandboxEvidence = z
  .object({
    mechanism: z.literal('bubblewrap'),
    version: z.string(),
    presetId: z.string(),
    /** `proxy`: a network of its own, whose only way out is the proxy of the worker. */
    network: z.enum(['shared', 'none', 'proxy']),
    /** Up to 64 paths of each kind. */
    writable: z.array(z.string()),
    hidden: z.array(z.string()),
    limits: z.object({ memory: limit, processes: limit }),
    /** What passed the proxy since the worker that saw the end supervised the run; up to 100 destinations by name. */
    egress: z
      .object({
        allowed: z.number().int(),
        denied: z.number().int(),
        destinations: z.array(
          z.object({
            host: z.string(),
            port: z.number().int(),
            allowed: z.boolean(),
            rule: z.string(),
            count: z.number().int(),
          }),
        ),
      })
      .optional(),
  })
  .meta({ id: 'SandboxEvidence' });
export type SandboxEvidence = z.infer<typeof sandboxEvidence>;
