import { z } from 'zod';
import { entriesOf } from './kinds';

/** The small services, by the name of their part. */
export const smallServices = ['bitmap', 'plants', 'workflow-runs'] as const;
export type SmallService = (typeof smallServices)[number];

const isService = (name: string): name is SmallService => smallServices.some((service) => service === name);

/** What `npm start` starts beside the board. */
export const startSettings = {
  SERVICES: z
    .string()
    .default('')
    .transform((list, context): SmallService[] => {
      const requested = entriesOf(list);
      for (const name of requested.filter((entry) => entry !== 'all' && !isService(entry))) {
        context.addIssue({ code: 'custom', message: `has no service ${name}: all, ${smallServices.join(', ')}` });
      }
      return smallServices.filter((name) => requested.includes('all') || requested.includes(name));
    })
    .meta({ form: '`all`, or comma-separated' })
    .describe(`Small services that run beside the board: ${smallServices.map((name) => `\`${name}\``).join(', ')}`),
};
