import { z } from 'zod';
import { agentState } from '../chat/agent-status';
import { taskId, timestamp } from '../common';
import { moment, paging } from '../query';

/** One change of the reported status. */
export const statusChange = z
  .object({
    id: z.string(),
    timestamp,
    previousStatus: agentState,
    newStatus: agentState,
    taskId: taskId.optional(),
    taskTitle: z.string().optional(),
    subAgentCount: z.number().int().optional(),
    /** How long the previous status had lasted, in milliseconds; absent for the first change. */
    durationMs: z.number().int().min(0).optional(),
  })
  .meta({ id: 'StatusChange' });
export type StatusChange = z.infer<typeof statusChange>;

const paged = paging(100, 1000);

export const statusHistoryQuery = z.strictObject(paged);

/** Both ends are times, or dates for the whole of these days (UTC). */
const end = z.union([moment, z.iso.date()]);

export const statusRangeQuery = z
  .strictObject({ startDate: end, endDate: end, ...paged })
  .refine(({ startDate, endDate }) => Date.parse(startDate) <= Date.parse(endDate), {
    path: ['endDate'],
    message: 'must not be before startDate',
  });

/** A day (UTC); today unless another is named. The week that ends with it begins in the years with four digits as well. */
export const statusDayQuery = z.strictObject({
  date: z.iso
    .date()
    .refine((date) => date >= '0001', 'must be of the years 0001 to 9999')
    .optional(),
});

export const statusPeriod = z.object({
  status: agentState,
  startTime: timestamp,
  endTime: timestamp,
  durationMs: z.number().int().min(0),
  taskId: taskId.optional(),
  taskTitle: z.string().optional(),
});
export type StatusPeriod = z.infer<typeof statusPeriod>;

/** Milliseconds of a day by what was done; `working`, `thinking` and `sub-agent` are active. */
const sums = {
  activeMs: z.number().int(),
  idleMs: z.number().int(),
  errorMs: z.number().int(),
  transitions: z.number().int(),
};

export const statusDay = z
  .object({ date: z.iso.date(), ...sums, periods: z.array(statusPeriod) })
  .meta({ id: 'StatusDay' });
export type StatusDay = z.infer<typeof statusDay>;

/** The seven days that end with the requested one. */
export const statusWeek = z
  .object({
    startDate: z.iso.date(),
    endDate: z.iso.date(),
    ...sums,
    days: z.array(statusDay.omit({ periods: true })),
  })
  .meta({ id: 'StatusWeek' });
export type StatusWeek = z.infer<typeof statusWeek>;
