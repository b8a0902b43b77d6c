"""Drop-in commands for BBRtrain, BBRclassify, BMRtrain, BMRclassify, BXRtrain and BXRclassify."""
