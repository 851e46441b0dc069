/** The update that sets these fields and removes those: MongoDB takes no empty `$unset`. */
export const setAndUnset = (fields: object, removed: readonly string[]) => ({
  $set: fields,
  ...(removed.length > 0 ? { $unset: Object.fromEntries(removed.map((name) => [name, ''])) } : {}),
});
