/** The condition of a filter on a time within bounds that may be open; both bounds belong to it. */
export const between = (since: string | undefined, until?: string): { $gte?: string; $lte?: string } | undefined =>
  since === undefined && until === undefined
    ? undefined
    : { ...(since === undefined ? {} : { $gte: since }), ...(until === undefined ? {} : { $lte: until }) };
