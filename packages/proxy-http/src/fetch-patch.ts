/** fetch-patch: to be filled by its owner. */
export {};
