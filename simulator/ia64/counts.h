#pragma once
// Exact counts of executed instructions.
