/** True for a number in the form of E.164. */
export const isPhoneNumber = (text: string): boolean => /^\+[1-9]\d{6,14}$/.test(text);

/** A number with all but its last two digits hidden. */
export const maskPhone = (number: string): string => `${"*".repeat(Math.max(0, number.length - 2))}${number.slice(-2)}`;
